from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0005_imports"),
    ]

    operations = [
        migrations.AddField(
            model_name="forest",
            name="answer_model",
            field=models.CharField(blank=True, default="", help_text="The model that answers in it; empty = the site's.", max_length=200),
            preserve_default=False,
        ),
    ]
