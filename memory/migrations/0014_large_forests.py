from django.db import migrations, models

# Above some size of a forest an index of the vectors' signs says which are compared with a query (store/recall.py); alone, it is a ninth of them.
COLUMN = "ALTER TABLE memory_statevector ADD COLUMN bits varbit GENERATED ALWAYS AS (binary_quantize(vector)::varbit) STORED"
INDEX = "CREATE INDEX vector_bits ON memory_statevector (forest_id, kind) INCLUDE (state_id, id, bits)"


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0013_signs"),
    ]

    operations = [
        migrations.RunSQL(COLUMN, "ALTER TABLE memory_statevector DROP COLUMN bits"),
        migrations.RunSQL(INDEX, "DROP INDEX vector_bits"),
        # The tree of each state that has a word is read off an index too.
        migrations.RemoveConstraint(model_name="interactionstate", name="state_forest_id"),
        migrations.AddConstraint(
            model_name="interactionstate",
            constraint=models.UniqueConstraint(fields=("forest", "id"), include=("root_id", "position"), name="state_forest_id"),
        ),
    ]
