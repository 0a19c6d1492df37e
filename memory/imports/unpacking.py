"""An upload → plain files. An archive is read as a stream, each of its files up to what is allowed, and nothing is trusted of what it says of itself."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from memory.imports.values import Note

# What is lost where an archive is damaged, at most.
CHUNK = 1 << 16
MUCH = 32 << 20
JSON_STARTS = (b"[", b"{")


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes of an upload, of what is in it unpacked, how often its packed size that may be, and how many files an archive may hold."""

    packed: int
    unpacked: int
    ratio: int = 200
    files: int = 50_000


class Refusal(ValueError):  # noqa: N818 - what it is, in one word
    """The upload isn't taken; the message says why. `large`: because of its size."""

    def __init__(self, message: str, large: bool = False) -> None:
        super().__init__(message)
        self.large = large


def is_archive(upload: Path) -> bool:
    return zipfile.is_zipfile(upload)


def unpack(upload: Path, folder: Path, limits: Limits, name: str = "", beat: Callable[[], None] = lambda: None) -> tuple[list[tuple[Path, str]], list[Note]]:
    """The JSON files of an upload, each with the name to call it by: the upload itself, or what the archive holds, written into `folder`.

    Raises Refusal for one that is too large, packed to burst, locked, or no archive after all.
    """
    if upload.stat().st_size > limits.packed:
        raise Refusal(f"The file has more than {limits.packed >> 20} MiB.", large=True)
    if not is_archive(upload):
        return [(upload, name or upload.name)], []
    try:
        with zipfile.ZipFile(upload) as archive:
            return _unpack(archive, folder, limits, beat)
    except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError) as error:
        raise Refusal(f"The archive can't be read ({error}).") from None


def _unpack(archive: zipfile.ZipFile, folder: Path, limits: Limits, beat: Callable[[], None]) -> tuple[list[tuple[Path, str]], list[Note]]:
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    if len(entries) > limits.files:
        raise Refusal(f"The archive holds {len(entries):,} files, more than {limits.files:,}.", large=True)
    found: list[tuple[Path, str]] = []
    notes: list[Note] = []
    others, written = 0, 0
    for number, entry in enumerate(entries):
        if entry.flag_bits & 0x1:
            raise Refusal("The archive is locked with a password.")
        name = entry.filename[-120:]
        target = folder / f"{number}.json"  # never the name that the archive gives
        try:
            with archive.open(entry) as packed, target.open("wb") as plain:
                if not (start := _start(packed)):
                    others += 1
                    target.unlink()
                    continue
                written += _copy(packed, plain, start, entry, limits, written, beat)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
            notes.append(Note("damaged", name, f"the archive is damaged here ({type(error).__name__}); what could be read before it is kept"))
        if target.exists() and target.stat().st_size:
            found.append((target, name))
    if others:
        notes.append(Note("no JSON", "", f"{others:,} files of the archive aren't JSON (pictures, pages) and are left out"))
    return found, notes


def _start(packed: IO[bytes]) -> bytes:
    """The first bytes when they may begin JSON, else nothing."""
    start = packed.read(64)
    return start if start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in JSON_STARTS else b""


def _copy(packed: IO[bytes], plain: IO[bytes], start: bytes, entry: zipfile.ZipInfo, limits: Limits, before: int, beat: Callable[[], None]) -> int:
    written = plain.write(start)
    while chunk := packed.read(CHUNK):
        written += plain.write(chunk)
        if before + written > limits.unpacked:
            raise Refusal(f"Unpacked, the archive has more than {limits.unpacked >> 20} MiB.", large=True)
        if written > MUCH and written > limits.ratio * max(1, entry.compress_size):
            raise Refusal("A file of the archive is packed so tightly that it can't be an export.", large=True)
        beat()
    return written
