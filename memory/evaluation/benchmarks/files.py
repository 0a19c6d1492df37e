"""Reading the public files as they come: a file, a directory or a tar archive; plain, .gz or .xz; a JSON list, one object, or JSON lines.

Large lists are read element by element (LongMemEval_S has 280 MB). What isn't the expected file raises WrongFileError, which says what was expected.
"""

from __future__ import annotations

import gzip
import io
import json
import lzma
import re
import tarfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, cast

CHUNK: Final = 1 << 20  # characters read at a time
_BETWEEN = re.compile(r"[\s,]*")
_PACKED = re.compile(r"\.(?:gz|xz)$")
_BROKEN = (OSError, EOFError, lzma.LZMAError, zlib.error, tarfile.TarError, UnicodeDecodeError)


class WrongFileError(ValueError):
    """A file that isn't what the loader reads; the message says what it expected and what to do."""


def documents(path: Path, ending: str) -> Iterator[tuple[str, IO[str]]]:
    """(name, open text) of a file, or of all files whose name ends in `ending` (packing aside) in a directory or archive, numbers in the order of numbers.

    Names are relative to the directory or archive, without .gz and .xz. Archives are read front to back, in their own order.
    """
    if not path.exists():
        raise WrongFileError(f"{path} doesn't exist.")
    found = False
    for name, raw in _members(path, ending):
        found = True
        with raw:
            yield name, io.TextIOWrapper(raw, encoding="utf-8-sig")
    if not found:
        raise WrongFileError(f"{path} has no *{ending} file, plain, .gz or .xz.")


def _members(path: Path, ending: str) -> Iterator[tuple[str, IO[bytes]]]:
    if path.is_dir():
        for file in sorted((file for file in path.rglob("*") if file.is_file()), key=lambda file: _natural(str(file))):
            if _PACKED.sub("", file.name).endswith(ending):
                yield _PACKED.sub("", str(file.relative_to(path))), _unpacked(file.name, file.open("rb"))
    elif re.search(r"\.tar(\.\w+)?$|\.t[gx]z$", path.name):
        with _reading(path.name), tarfile.open(path) as archive:
            for member in archive:
                if member.isfile() and _PACKED.sub("", member.name).endswith(ending):
                    yield _PACKED.sub("", member.name.removeprefix("./")), _unpacked(member.name, cast("IO[bytes]", archive.extractfile(member)))
    else:
        yield _PACKED.sub("", path.name), _unpacked(path.name, path.open("rb"))


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]


def _unpacked(name: str, file: IO[bytes]) -> IO[bytes]:
    if name.endswith(".gz"):
        return cast("IO[bytes]", gzip.open(file))
    return cast("IO[bytes]", lzma.open(file)) if name.endswith(".xz") else file


@contextmanager
def _reading(name: str) -> Iterator[None]:
    """What goes wrong while a file is unpacked or decoded is said of that file."""
    try:
        yield
    except _BROKEN as error:
        raise WrongFileError(f"{name} can't be read ({error}): it is damaged or packed in another way. Fetch it again.") from error


def read(name: str, file: IO[str]) -> str:
    """The whole text of an open document."""
    with _reading(name):
        return file.read()


def items(name: str, file: IO[str]) -> Iterator[Any]:
    """The elements of a JSON list, or the objects that follow each other (JSON lines; one object alone), decoded one by one."""
    decoder = json.JSONDecoder()
    text = read_some(name, file, CHUNK).lstrip()
    listed = text.startswith("[")
    at = int(listed)
    while True:
        at = cast("re.Match[str]", _BETWEEN.match(text, at)).end()
        wrong = "it ends before its list does"
        if at < len(text):
            if listed and text[at] == "]":
                return
            try:
                value, at = decoder.raw_decode(text, at)
            except json.JSONDecodeError as error:
                wrong = error.msg  # or only not read far enough
            else:
                yield value
                continue
        more = read_some(name, file, max(CHUNK, len(text) - at))
        if not more:
            if at == len(text) and not listed:
                return
            raise WrongFileError(f"{name} isn't JSON, or was cut off ({wrong}). Fetch it again.")
        text, at = text[at:] + more, 0


def read_some(name: str, file: IO[str], size: int) -> str:
    """Up to `size` characters of an open document; empty at its end."""
    with _reading(name):
        return file.read(size)


def require(value: Any, keys: Collection[str], name: str, expected: str) -> Mapping[str, Any]:
    """The value, which must be an object with all of `keys`. Raises WrongFileError, which says what was `expected`."""
    if not isinstance(value, dict):
        raise WrongFileError(f"{name} has a {type(value).__name__} where an object was expected. Expected {expected}.")
    if missing := [key for key in keys if key not in value]:
        raise WrongFileError(f"{name} has an object without {', '.join(missing)}. Expected {expected}.")
    return value
