"""Turns of a set reworded by a language model (`--verbalize`): what it is asked, the shape of its answer, and what of it may be taken.

Questions, canonical answers, values, names and the order of lists stay as planned. A rewording that loses or adds one of them is not taken: the wording of
the banks stays. The validator runs afterwards as always, and how hard the set is should be measured again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, Protocol

from memory.evaluation.branchmemeval.dataset import Row
from memory.llm.interface import ModelError
from memory.llm.structured import Schema, Structured

SYSTEM: Final = """\
You reword one exchange between a person and an assistant, so that it reads as if it had been typed by a real person and answered by a real assistant.
- Keep the meaning and everything that is hinted at. Don't explain hints, don't say who or what is meant when the text doesn't.
- Add no names, numbers, dates, prices, places or facts. Leave none out.
- Copy every string under `keep` exactly as it is, on the side where it stands.
- Keep the tone of the person's message (brief, chatty, lower case, small typos) and its length, give or take a third.
- Numbered lists keep their entries and their order. A question stays a question.
Answer with JSON: {"user": "...", "assistant": "..."}."""
SCHEMA: Final[Schema] = {
    "type": "object",
    "properties": {"user": {"type": "string", "minLength": 1}, "assistant": {"type": "string", "minLength": 1}},
    "required": ["user", "assistant"],
    "additionalProperties": False,
}
MAX_TOKENS: Final = 900
_NUMBER = re.compile(r"\d+")
_ENTRY = re.compile(r"^\d+\. ", re.MULTILINE)


class Client(Protocol):
    """What is needed of `memory.llm.client.EndpointClient`."""

    def structured(self, messages: list[dict[str, str]], schema: Schema, *, name: str, max_tokens: int) -> Structured: ...


def rephrase(session: Row, client: Client) -> tuple[Row, int]:
    """The session with its turns reworded, and how many of them kept the banks' wording. Raises ModelError when the model can't be reached."""
    owners = [branch["owner"] for branch in session["branches"]]
    turns, kept = [], 0
    for turn in session["turns"]:
        if "question" in turn:
            turns.append(turn)
            continue
        said = _asked(turn, client)
        if said is not None and fits(turn, said, owners):
            turns.append({**turn, "user": said["user"].strip(), "assistant": said["assistant"].strip()})
        else:
            turns.append(turn)
            kept += 1
    return {**session, "turns": turns}, kept


def _asked(turn: Row, client: Client) -> Mapping[str, Any] | None:
    """The model's wording; None when it gave none that could be read."""
    given = {"user": turn["user"], "assistant": turn["assistant"], "keep": turn.get("keeps", [])}
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": json.dumps(given, ensure_ascii=False)}]
    try:
        return client.structured(messages, SCHEMA, name="rewording", max_tokens=MAX_TOKENS).value
    except ModelError as error:
        if error.code == "structured_invalid":
            return None
        raise


def fits(turn: Row, said: Mapping[str, Any], owners: Iterable[str]) -> bool:
    """Whether a rewording lost and added nothing that the plan holds."""
    for side in ("user", "assistant"):
        before, after = turn[side], said[side]
        if any(kept.casefold() in before.casefold() and kept.casefold() not in after.casefold() for kept in turn.get("keeps", ())):
            return False
        if any(_named(after, owner) and not _named(before, owner) for owner in owners):
            return False
        if set(_NUMBER.findall(after)) - set(_NUMBER.findall(before)) or len(_ENTRY.findall(after)) != len(_ENTRY.findall(before)):
            return False
        if before.rstrip().endswith("?") and "?" not in after:
            return False
        listed = [after.casefold().find(kept.casefold()) for kept in _in_order(before, turn.get("keeps", ()))]
        if listed != sorted(listed):
            return False
    return True


def _named(text: str, owner: str) -> bool:
    return re.search(rf"\b{re.escape(owner)}\b", text, re.IGNORECASE) is not None  # a possessive is a name too


def _in_order(text: str, keeps: Iterable[str]) -> list[str]:
    """The strings to be kept that begin an entry of a list, in their order."""
    entries = [line.split(". ", 1)[1] for line in text.splitlines() if _ENTRY.match(line)]
    return [kept for entry in entries for kept in keeps if entry.startswith(kept)]
