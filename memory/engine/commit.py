"""What one interaction teaches, read by rule (paper §3.4, ARBORMEM §4): node metadata, path evolution, facts and records."""

from __future__ import annotations

from collections.abc import Sequence

from memory.engine.forest import Extraction, Interaction

# Part of every refined state: a state refined under another version may be refined again (W3).
EXTRACTORS = "rules-1"


def extract(interaction: Interaction, path: Sequence[Interaction], zone: str = "UTC", topic: str = "") -> Extraction:
    """All that `interaction` teaches, given the path from its root to its parent (empty for a root), the user's zone and its tree's topic key.

    A pure function of these texts: deleting a turn and extracting again gives what a forest without it would have (D2).
    """
    return Extraction(interaction.user[:200], (), (), "", topic, (), ())
