"""The names of what the ranker looks at (`features.py`), and the part of a score that each is shown in. Their order is that of the weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

VERSION: Final = 7
SHARPNESS: Final = 0.06  # of the softmax that gives each branch its share of a similarity; of covered words
WORD_SHARPNESS: Final = 0.15
NEAR_LEADS: Final = ("near_described", "near_tip", "near_centre", "near_best", "near_sentence", "near_sentences", "near_root", "near_said")
LEADS: Final = (*NEAR_LEADS, "words_path", "names_shared", "open_any", "open_near", "item_near", "asked_near", "asked_fits", "gender")
SHARES: Final[Mapping[str, float]] = {
    "near_centre": SHARPNESS,
    "near_best": SHARPNESS,
    "near_sentence": SHARPNESS,
    "near_sentences": SHARPNESS,
    "near_described": SHARPNESS,
    "words_path": WORD_SHARPNESS,
    "words_only": WORD_SHARPNESS,
}
BESTS: Final = (
    "near_tip",
    "near_centre",
    "near_best",
    "near_sentence",
    "near_sentences",
    "near_root",
    "near_said",
    "near_any_said",
    "near_described",
    "words_path",
    "words_tip",
    "open_any",
    "open_some",
)


WORDINGS: Final = (
    "short",
    "bare",
    "named",
    "pronoun",
    "inward",
    "opener",
    "answer",
    "greeting",
    "question",
    "request",
    "generic",
    "first",
    "third",
    "contrast",
    "fresh",
    "returning",
    "additive",
    "topical",
    "reporting",
    "picking",
    "reconsidering",
    "choosing",
    "elliptical",
    "describing",
)
# Feature → the part it is shown in. `new…` belong to the new root, all others to branches.
OF_BRANCHES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("near_tip", "near_said", "near_centre", "near_best", "near_any_said", "near_sentence", "near_sentences", "near_described"), "meaning"),
    **dict.fromkeys(
        ("lead_near_described", "lead_near_tip", "lead_near_said", "lead_near_centre", "lead_near_best", "lead_near_sentence", "lead_near_sentences"), "meaning"
    ),
    **{f"share_{name}": "meaning" for name in SHARES if name.startswith("near")},
    **dict.fromkeys(("words_tip", "words_only", "number_only", "share_words_only"), "words"),
    **dict.fromkeys(("names_shared", "names_only", "names_elsewhere", "lead_names_shared", "contrast_names"), "names"),
    **dict.fromkeys(("names_root", "names_root_only", "names_root_elsewhere", "contrast_names_root", "contrast_names_root_elsewhere"), "names"),
    **dict.fromkeys(("gender", "lead_gender"), "names"),
    **dict.fromkeys(("near_root", "lead_near_root", "words_path", "words_root", "lead_words_path", "share_words_path"), "path"),
    **dict.fromkeys(("topic", "contrast_centre"), "path"),
    **dict.fromkeys(("open_last", "open_last_tells", "open_last_short", "open_near", "open_any", "open_tells", "open_some", "open_much"), "reply"),
    **dict.fromkeys(("asked", "asked_near", "asked_fits", "asked_tells", "lead_asked_near", "lead_asked_fits", "active_asked_fits_elsewhere"), "reply"),
    **dict.fromkeys(("open_fits", "open_elsewhere", "active_open_some_elsewhere", "lead_open_any", "lead_open_near"), "reply"),
    **dict.fromkeys(("list_last_picking", "list_any_picking", "list_none_picking", "list_reconsidering", "list_choosing"), "reply"),
    **dict.fromkeys(("item_near", "lead_item_near", "active_item_near_elsewhere"), "reply"),
    **dict.fromkeys(("active", "recent", "age"), "recency"),
    **dict.fromkeys(("active_near_tip", "active_words_tip", "active_names_elsewhere", "active_names_only"), "recency"),
    **dict.fromkeys(("active_names_root_elsewhere", "active_gender"), "recency"),
    **dict.fromkeys(("active_unasked", "active_asked_near_elsewhere"), "reply"),
    **{f"active_share_{name}": "recency" for name in SHARES},
    **{f"active_{name}": "cue" for name in WORDINGS},
    "other_returning": "cue",
    "telling": "cue",
    **dict.fromkeys(("earlier", "earlier_of_active", "doubt", "doubt_active", "seam"), "path"),
    **dict.fromkeys(("split_near", "split_piece", "split_words", "split_doubt", "split_length", "split_sure"), "path"),
}
OF_NEW: Final[Mapping[str, str]] = {
    "new": "path",
    "new_telling": "cue",
    **{f"new_{name}": {"near": "meaning", "words": "words", "open": "reply"}[name.partition("_")[0]] for name in BESTS},
    **{f"new_{name}": "cue" for name in WORDINGS},
    **dict.fromkeys(("new_long", "new_generic_uncovered", "new_generic_near"), "cue"),
    "new_uncovered": "words",
    **dict.fromkeys(
        ("new_unknown_name", "new_known_name", "new_unknown_name_worded", "new_unknown_name_near", "new_introducing", "new_introducing_first"), "names"
    ),
    **dict.fromkeys(("new_root_name", "new_gender"), "names"),
}
FEATURES: Final[Mapping[str, str]] = {**OF_BRANCHES, **OF_NEW}
PARTS: Final = ("meaning", "words", "names", "reply", "path", "cue", "recency")
