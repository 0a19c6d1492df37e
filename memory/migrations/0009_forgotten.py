import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

# Which decisions name a state or a tree among their candidates: a deletion must not read those of the whole forest to find out.
INDEX = "CREATE INDEX decision_{key}s ON memory_routingdecision USING gin (jsonb_path_query_array(candidates, '$[*].{key}'::jsonpath) jsonb_path_ops)"


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0007_edited_from"),
    ]

    operations = [
        migrations.CreateModel(
            name="Forgotten",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("salt", models.CharField(help_text="Random, one for a forest.", max_length=32)),
                (
                    "marks",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=64), default=list, help_text="Keyed hashes (engine/forgotten.py).", size=None
                    ),
                ),
                ("at", models.DateTimeField(auto_now_add=True)),
                ("forest", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="memory.forest")),
                (
                    "state",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name="forgotten", to="memory.interactionstate"
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "forgotten",
                "constraints": [models.UniqueConstraint(fields=("forest", "id"), name="forgotten_forest_id")],
            },
        ),
        *[migrations.RunSQL(INDEX.format(key=key), f"DROP INDEX decision_{key}s") for key in ("state", "root")],
    ]
