from django.db import migrations
from pgvector.django import VectorExtension


class Migration(migrations.Migration):
    """The only extension any migration may need: it is the only one of the embedded PostgreSQL."""

    initial = True
    dependencies: list[tuple[str, str]] = []
    operations = [VectorExtension()]
