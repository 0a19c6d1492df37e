"""A small history of two matters, and files of it: what the tests of the instruments run on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memory.evaluation.cases import Asked, Given

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
SAID = [
    ("k1", None, "We plan a new kitchen with an oak worktop.", "Oak is warm and lasts long."),
    ("k2", "k1", "The fitter Olga charges 1,250 euros for the kitchen.", "That is a fair price."),
    ("d1", None, "My dog Bruno limps since Sunday.", "Let a vet look at his paw."),
    ("k3", "k2", "Which oil does the oak worktop of the kitchen need?", "1. Linseed oil\n2. Tung oil\n3. Hard wax oil"),
    ("d2", "d1", "The vet found a thorn in Bruno's paw.", "Good that it is out."),
    ("k4", "k3", "My favorite oil is tung oil, so the worktop gets that.", "Two thin coats, then."),
    ("d3", "d2", "Bruno runs again, the limping is over.", "Lovely!"),
]


def given() -> list[Given]:
    return [Given(id, user, assistant, START + timedelta(hours=hour)) for hour, (id, _, user, assistant) in enumerate(SAID)]


def asked(text: str) -> Asked:
    return Asked(text, START + timedelta(days=3))


def write_stream(path: Path, said: Sequence[tuple[str, str | None, str, str]] = SAID) -> Path:
    """The history as a stream with gold parents."""
    lines = [
        {"id": id, "user": user, "assistant": assistant, "time": (START + timedelta(hours=hour)).isoformat(), "parent": parent}
        for hour, (id, parent, user, assistant) in enumerate(said)
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def write_locomo(path: Path, talks: int = 2) -> Path:
    """Talks in the format of LoCoMo, each with three questions."""
    value = [
        {
            "sample_id": f"talk-{number}",
            "conversation": {
                "session_1_date_time": "1:56 pm on 8 May, 2023",
                "session_1": [
                    {"speaker": "Ana", "dia_id": "D1:1", "text": "I glazed seven bowls in teal."},
                    {"speaker": "Ben", "dia_id": "D1:2", "text": "My kiln broke on Monday."},
                    {"speaker": "Ana", "dia_id": "D1:3", "text": "My sister Olga has a studio in Porto."},
                    {"speaker": "Ben", "dia_id": "D1:4", "text": "I train for the marathon in Lisbon."},
                ],
            },
            "qa": [
                {"question": "What colour are the bowls of Ana?", "answer": "teal", "evidence": ["D1:1"], "category": 4},
                {"question": "Where is the studio of Olga?", "answer": "Porto", "evidence": ["D1:3"], "category": 4},
                {"question": "What broke, and where does Ben run?", "answer": "kiln, Lisbon", "evidence": ["D1:2", "D1:4"], "category": 1},
            ],
        }
        for number in range(talks)
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
    return path
