from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memory", "0010_jobs")]

    operations = [
        migrations.AlterField(
            model_name="routingdecision",
            name="method",
            field=models.CharField(
                choices=[
                    ("continuation", "continuation cue"),
                    ("temporal", "temporal return"),
                    ("recall", "hybrid recall"),
                    ("new_root", "new root"),
                    ("asked", "chosen with the language model"),
                    ("given", "given by the sender"),
                    ("corrected", "corrected by a person"),
                ],
                max_length=12,
            ),
        ),
    ]
