"""JSON of any size, piece by piece: where the values of a large array are, without holding it; a broken piece costs only itself.

A library that parses as it reads was looked at (ijson: BSD, kept up). It ends at the first fault and gives the values apart; here a file that ends
early or has one broken conversation gives all the others, and each is parsed whole by the standard library.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import IO, Any

CHUNK = 1 << 20
LONGEST_KEY = 200
DEEPEST = 10_000

_ENDS = re.compile(rb'["\\]')
_NEAR = re.compile(rb'["{}\[\],]')
_DEEP = re.compile(rb'["{}\[\]]')
_BLANK = b" \t\r\n"


@dataclass(frozen=True, slots=True)
class Piece:
    """A value from byte `start` to `end` of a file, under the key `section` of the object around it; `whole` is False where the file ends within it."""

    start: int
    end: int
    section: str = ""
    whole: bool = True


def pieces(file: IO[bytes], level: int) -> Iterator[Piece]:
    """The values inside of `level` brackets: 1 = the elements of the outermost list, 2 = those of the lists in the outermost object.

    Members of an object at that level come with their key. Ends with a piece that isn't whole when the file ends early.
    """
    size = file.seek(0, 2)
    position = _after_mark(file)
    depth, quoted, section = 0, False, ""
    key = [position, position]
    begun = -1  # where the piece under way starts
    file.seek(position)
    while chunk := file.read(CHUNK):
        at = 0
        while True:
            match = (_ENDS if quoted else _NEAR if depth <= level else _DEEP).search(chunk, at)
            if match is None:
                break
            at, sign = match.end(), match.group()
            here = position + at
            if quoted:
                if sign == b"\\":
                    if at == len(chunk):  # what is escaped comes with the next chunk
                        chunk += file.read(1)
                    at += 1
                else:
                    quoted = False
                    key[1] = here - 1
            elif sign == b'"':
                quoted = True
                if depth == level - 1:
                    key[0] = here
            elif sign in b"{[":
                depth += 1
                if depth == level:
                    section = _between(file, key[0], min(key[1], key[0] + LONGEST_KEY)) if level > 1 else ""
                    begun = here
            elif sign in b"}]":
                if depth == level and begun >= 0:
                    yield Piece(begun, here - 1, section)
                    begun = -1
                depth -= 1
                if depth <= 0:
                    return
            elif depth == level:  # a comma
                yield Piece(begun, here - 1, section)
                begun = here
        position += len(chunk)
        file.seek(position)
    if depth > 0:
        yield Piece(begun if begun >= 0 else size, size, section, whole=False)


def lines(file: IO[bytes], longest: int) -> Iterator[Piece]:
    """The lines that say something; one longer than `longest` is passed over in parts, and its piece is as long as it is."""
    position = _after_mark(file)
    file.seek(position)
    while line := file.readline(longest + 1):
        start, blank = position, not line.strip()
        position += len(line)
        while not line.endswith(b"\n") and len(line) > longest:
            line = file.readline(longest + 1)
            position += len(line)
            if not line:
                break
        if not blank:
            yield Piece(start, position)
        file.seek(position)


def load(file: IO[bytes], piece: Piece, longest: int) -> Any:
    """The value of a piece. Raises ValueError, in words, when it isn't whole, too large, nested too deep or no JSON. None when there is nothing."""
    size = piece.end - piece.start
    if size > longest:
        raise ValueError(f"it has {size / 2**20:.0f} MiB, more than {longest / 2**20:.0f} MiB")
    file.seek(piece.start)
    raw = file.read(size).strip(_BLANK)
    if not raw:
        return None
    if not piece.whole:
        raise ValueError("the file ends in the midst of it")
    return decode(raw.decode("utf-8", "replace"))


def decode(text: str) -> Any:
    """The value of JSON text. Raises ValueError in words; deep nesting is no error up to 10,000 levels."""
    try:
        return json.loads(text)
    except RecursionError:
        return _decode_deep(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"it isn't valid JSON ({error.msg})") from None


def _after_mark(file: IO[bytes]) -> int:
    file.seek(0)
    return 3 if file.read(3) == b"\xef\xbb\xbf" else 0


def _between(file: IO[bytes], start: int, end: int) -> str:
    back = file.tell()
    file.seek(start)
    found = file.read(max(0, end - start)).decode("utf-8", "replace")
    file.seek(back)
    return found


_TOKEN = re.compile(r'\s*([{}\[\],:"]|true|false|null|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)')
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None}


def _decode_deep(text: str) -> Any:
    """As json.loads, without a call per level: replies nested in replies reach a thousand levels in a long conversation."""
    top: list[Any] = []
    open_now: list[Any] = [top]
    keys: list[str | None] = [None]
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            break
        sign, at = match.group(1), match.end()
        value: Any
        if sign == '"':
            value, at = scanstring(text, at, False)
            if isinstance(open_now[-1], dict) and keys[-1] is None:
                keys[-1] = value
                continue
        elif sign in "{[":
            value = {} if sign == "{" else []
        elif sign in "}]":
            if len(open_now) == 1 or isinstance(open_now[-1], dict) != (sign == "}"):
                raise ValueError("it isn't valid JSON (brackets don't match)")
            open_now.pop()
            keys.pop()
            continue
        elif sign in ",:":
            continue
        else:
            value = _WORDS[sign] if sign in _WORDS else float(sign) if set(sign) & set(".eE") else int(sign)
        holder = open_now[-1]
        if isinstance(holder, dict):
            holder[keys[-1] or ""] = value
            keys[-1] = None
        else:
            holder.append(value)
        if isinstance(value, dict | list):
            if len(open_now) > DEEPEST:
                raise ValueError(f"it is nested more than {DEEPEST:,} levels deep")
            open_now.append(value)
            keys.append(None)
    if len(open_now) != 1 or len(top) != 1 or text[at:].strip():
        raise ValueError("it isn't valid JSON")
    return top[0]
