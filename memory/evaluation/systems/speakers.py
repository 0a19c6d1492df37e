"""Reply links of many-party chat: one softmax over the messages before and the message itself, which then begins a thread. For Ubuntu IRC, not for the chat.

A link stays as it was made, and the threads it makes are looked at for the next one (disentanglement/features.py), errors too. Fitted on the train files of
Ubuntu IRC alone (disentanglement/fit.py, kept in speakers.json): a net for logs that tell who speaks, and one for text only.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from memory.engine.calibration import digest
from memory.engine.net import Net
from memory.evaluation.cases import Given
from memory.evaluation.disentanglement.features import Log, features, rows
from memory.evaluation.disentanglement.lines import NOBODY, Message, People, Words, read
from memory.evaluation.systems.base import Placed, PlacesOnly
from memory.evaluation.systems.reading import Setting

FITTED: Final = Path(__file__).parent / "speakers.json"
NOTES: Final[Mapping[str, str]] = {"speakers": "a ranker for many-party chat, fitted on the train files of Ubuntu IRC"}


@dataclass(frozen=True, slots=True)
class Weights:
    """What was fitted: the words, a net for chats that tell who speaks, one for text only (which looks at no times either), and what they were fitted on."""

    words: Words
    speakers: Net
    text: Net
    fitted_on: str

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Weights:
        """Raises ValueError, KeyError or TypeError for what isn't the form of `to_json`, or was changed since."""
        if data["hash"] != digest(data):
            raise ValueError("The weights of speakers don't have the hash they were written with; fit them again with manage.py fit_speakers.")
        rarity = {word: float(numbers[0]) for word, numbers in data["words"].items()}
        lean = {word: float(numbers[1]) for word, numbers in data["words"].items()}
        nets = {name: Net.from_json(tuple(data[name]["features"]), data[name]) for name in ("speakers", "text")}
        return cls(Words(rarity, lean, float(data["rarest"])), nets["speakers"], nets["text"], str(data["fitted_on"]))

    def to_json(self) -> dict[str, Any]:
        words = {word: [round(rarity, 3), round(self.words.lean.get(word, 0.0), 3)] for word, rarity in sorted(self.words.rarity.items())}
        values = {
            "fitted_on": self.fitted_on,
            "speakers": self.speakers.to_json(),
            "text": self.text.to_json(),
            "rarest": round(self.words.rarest, 3),
            "words": words,
        }
        return {**values, "hash": digest(values)}


@cache
def weights() -> Weights:
    """The weights as fitted."""
    return Weights.from_json(json.loads(FITTED.read_text(encoding="utf-8")))


class Speakers(PlacesOnly):
    """A System that only links. The net is chosen by whether it is said who speaks."""

    name = "speakers"
    routes = True

    def __init__(self, setting: Setting | None = None, fitted: Weights | None = None) -> None:
        self.weights = fitted or weights()
        self.open("", "UTC")

    def open(self, case: str, zone: str) -> None:
        self.log = Log()
        self.people = People()
        self.ids: list[str] = []
        self._at: dict[str, int] = {}

    def place(self, given: Given) -> Placed | None:
        started = time.perf_counter()
        message = self._read(given)
        if message.server:
            return Placed(None, 1.0, 1000 * (time.perf_counter() - started))
        there, columns = features(self.log, message)
        net = self.weights.speakers if message.speaker != NOBODY else self.weights.text
        scores = net.scores(rows(columns, net.names))
        raised = np.exp(scores - scores.max())
        places = [self.ids[number] for number in there] + [None]
        order = np.argsort(-scores, kind="stable")
        best, *others = (places[at] for at in order)
        return Placed(best, float(raised.max() / raised.sum()), 1000 * (time.perf_counter() - started), tuple(others))

    def observe(self, given: Given, *, placed: Placed | None) -> None:
        parent = placed.parent if placed is not None else None
        self.log.add(self._read(given), len(self.ids) if parent is None else self._at[parent])
        self.people.hear(given.user)
        self._at[given.id] = len(self.ids)
        self.ids.append(given.id)

    def _read(self, given: Given) -> Message:
        return read(given.user, given.time, self.people, self.weights.words)
