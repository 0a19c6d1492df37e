from django.db import migrations

# Which decisions quote a state among what spoke for a candidate: a deletion must not read those of the whole forest to find out (0009 has the same of candidates).
INDEX = """
    CREATE INDEX decision_signs ON memory_routingdecision
    USING gin (jsonb_path_query_array(candidates, '$[*].signs.*.state'::jsonpath) jsonb_path_ops)
"""


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0012_pieces"),
    ]

    operations = [migrations.RunSQL(INDEX, "DROP INDEX decision_signs")]
