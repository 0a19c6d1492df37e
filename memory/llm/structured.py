"""JSON out of what a model says: taken as it is where possible, repaired where nothing is lost or guessed, always checked against its schema (M4)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory.llm.capabilities import Mode
from memory.llm.interface import Message
from memory.llm.thinking import without_thinking
from memory.llm.usage import Usage

Schema = Mapping[str, Any]
_BEGINS_OBJECT = re.compile(r'\{\s*"')
_BEGINS_LIST = re.compile(r"\[\s*\{")
_FENCE = re.compile(r"```[a-zA-Z0-9]*\s*\n?(.*?)(?:```|$)", re.DOTALL)


class UnreadableError(ValueError):
    """No JSON that fits; `args[0]` says why in words a model can act on, without quoting what it said."""


@dataclass(frozen=True, slots=True)
class Structured:
    """A value that fits its schema. `repairs` names what was put right: “fence”, “prose”, “comma”, “echo”, and “cut” when the text ended in the
    middle and only the complete entries of its last list are here, which happens on the last attempt only."""

    value: dict[str, Any]
    usage: Usage
    attempts: int
    mode: Mode
    repairs: tuple[str, ...] = ()


def read(text: str, schema: Schema, *, cut_allowed: bool = False) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The object in `text` that fits `schema`, and what was repaired. Raises UnreadableError."""
    text = without_thinking(text)
    if not text:
        raise UnreadableError("There was no answer.")
    problem = ""
    cut: list[tuple[str, tuple[str, ...]]] = []
    for candidate, repairs in _candidates(text):
        for source, more in ((candidate, ()), (_without_trailing_commas(candidate), ("comma",))):
            try:
                value = json.loads(source, strict=False)
            except ValueError:
                continue
            found, why = _fitting(value, schema)
            if found is not None:
                return found[0], (*repairs, *more, *found[1])
            problem = problem or why
            break
        else:
            cut.append((candidate, repairs))
    for candidate, repairs in cut:
        value = _complete_part(candidate)
        if value is None:
            continue
        problem = problem or "The JSON ended in the middle."
        if cut_allowed and (found := _fitting(value, schema)[0]) is not None:
            return found[0], (*repairs, "cut", *found[1])
    raise UnreadableError(problem or "There was no JSON object.")


def instructions(schema: Schema) -> str:
    """What a model is told when the server doesn't hold it to the schema."""
    return f"Answer with one JSON object only, without any other text. It must fit this JSON schema (don’t repeat the schema):\n{json.dumps(schema)}"


def with_instructions(messages: Sequence[Message], schema: Schema) -> list[Message]:
    """The messages with the schema at the end of the system message, which stays the same from call to call."""
    told = instructions(schema)
    if messages[0]["role"] == "system":
        return [{"role": "system", "content": f"{messages[0]['content']}\n\n{told}"}, *messages[1:]]
    return [{"role": "system", "content": told}, *messages]


def response_format(mode: Mode, schema: Schema, name: str) -> dict[str, Any]:
    """The request parameter of a mode; none for “prompted”."""
    if mode == "json_schema":
        return {"response_format": {"type": "json_schema", "json_schema": {"name": name, "schema": dict(schema), "strict": True}}}
    return {"response_format": {"type": "json_object"}} if mode == "json_object" else {}


def _candidates(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """Where the object may be, the likeliest first: all of it, a fence, from the first brace to the end of that object."""
    found: list[tuple[str, tuple[str, ...]]] = [(text, ())]
    found += [(match[1].strip(), ("fence",)) for match in _FENCE.finditer(text) if "{" in match[1]]
    start = -1 if _BEGINS_LIST.match(text) else text.find("{")
    while start >= 0:
        end = _end_of_object(text, start)
        found.append((text[start:end], ("prose",)))
        # What is inside an object is a part of it: never taken for the whole, which a lenient schema would allow.
        if end is None and _BEGINS_OBJECT.match(text, start):
            break
        start = text.find("{", end or start + 1)
    return found


def _outside_strings(text: str, start: int = 0) -> Iterator[tuple[int, str]]:
    """Places and characters of a JSON text that are not inside a string; the quotes around one are neither."""
    inside = escaped = False
    for index in range(start, len(text)):
        character = text[index]
        if inside:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                inside = False
        elif character == '"':
            inside = True
        else:
            yield index, character


def _end_of_object(text: str, start: int) -> int | None:
    depth = 0
    for index, character in _outside_strings(text, start):
        if character in "{[":
            depth += 1
        elif character in "}]":
            depth -= 1
            if depth == 0:
                return index + 1
    return None


def _without_trailing_commas(text: str) -> str:
    parts: list[str] = []
    kept = 0
    for index, character in _outside_strings(text):
        if character not in "}]":
            continue
        end = index
        while end > kept and text[end - 1].isspace():
            end -= 1
        if end > kept and text[end - 1] == ",":
            parts.append(text[kept : end - 1])
            kept = index
    return "".join([*parts, text[kept:]])


def _complete_part(text: str) -> Any:
    """The object cut back to the last complete entry of a list, closed; None when there is no such place."""
    open_brackets: list[str] = []
    best: str | None = None
    for index, character in _outside_strings(text):
        if character in "{[":
            open_brackets.append("}" if character == "{" else "]")
        elif character in "}]":
            if not open_brackets or open_brackets.pop() != character:
                return None
            if open_brackets and open_brackets[-1] == "]":
                best = text[: index + 1] + "".join(reversed(open_brackets))
    if best is None or not open_brackets:
        return None
    try:
        return json.loads(_without_trailing_commas(best), strict=False)
    except ValueError:
        return None


Found = tuple[dict[str, Any], tuple[str, ...]]


def _fitting(value: Any, schema: Schema) -> tuple[Found | None, str]:
    """The value, or what an echoed schema holds in its place, when it fits; else why not."""
    if not isinstance(value, dict):
        return None, ""
    wrong = _problem(value, schema)
    if wrong is None:
        return (value, ()), ""
    inner = value.get("properties")
    own = schema.get("properties", {})
    if isinstance(inner, dict) and "properties" not in own:
        if _problem(inner, schema) is None:
            return (inner, ("echo",)), ""
        return None, "That was the schema. Answer with an object that fits it."
    return None, wrong


def _problem(value: Any, schema: Schema) -> str | None:
    """Why `value` doesn't fit, without quoting it; None when it fits."""
    from jsonschema import Draft202012Validator

    errors: Sequence[Any] = sorted(Draft202012Validator(schema).iter_errors(value), key=lambda error: len(error.absolute_path))
    if not errors:
        return None
    error = errors[0]
    where = "/".join(str(part) for part in error.absolute_path) or "the object"
    if error.validator == "required":
        missing = [name for name in error.validator_value if name not in error.instance]
        return f"{where} lacks {', '.join(missing)}."
    if error.validator in ("type", "enum", "const"):
        return f"{where} must be {json.dumps(error.validator_value)}."
    return f"{where} breaks the rule {error.validator}: {json.dumps(error.validator_value)[:200]}."
