import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

STATUS = [("waiting", "waiting"), ("running", "running"), ("done", "done"), ("failed", "failed"), ("cancelled", "cancelled")]


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("memory", "0009_forgotten"),
    ]

    operations = [
        migrations.AddField(
            model_name="job",
            name="result",
            field=models.JSONField(blank=True, help_text="What came of it, for kinds that answer something.", null=True),
        ),
        migrations.AlterField(
            model_name="job",
            name="status",
            field=models.CharField(choices=STATUS, default="waiting", max_length=9),
        ),
        migrations.CreateModel(
            name="Bulk",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(help_text="Of the page that asked, so that asking twice begins once.", max_length=32, unique=True)),
                ("action", models.CharField(max_length=20)),
                ("target", models.CharField(help_text="What kind of row: fact, state, forest …", max_length=13)),
                ("ids", django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None)),
                ("done", models.PositiveIntegerField(default=0, help_text="How many of the ids have had their turn.")),
                ("counts", models.JSONField(blank=True, default=dict, help_text="How many were done, were refused, were gone, failed.")),
                ("refused", models.JSONField(blank=True, default=list, help_text="Why some weren't done, up to a limit.")),
                ("status", models.CharField(choices=STATUS, default="waiting", max_length=9)),
                ("message", models.CharField(blank=True, max_length=300)),
                ("holder", models.CharField(blank=True, help_text="Who does it now; empty: nobody.", max_length=100)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "owner",
                    models.ForeignKey(
                        help_text="Who asked for it.", on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "verbose_name": "bulk job",
                "ordering": ["-id"],
            },
        ),
    ]
