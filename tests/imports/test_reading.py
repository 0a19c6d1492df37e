"""Files of any size and shape: found by content, read piece by piece, and what is broken costs only itself."""

import io
import json
import random
import tracemalloc
import zipfile

import pytest

from memory.imports import Limits, Refusal, survey, unpack
from memory.imports.reading import format_of
from memory.imports.stream import Piece, decode, lines, load, pieces
from memory.imports.values import id_of, time_of
from tests.imports.samples import gpt, read_all

SMALL = Limits(packed=1 << 20, unpacked=4 << 20)


@pytest.mark.parametrize(
    ("content", "form"),
    [
        ([{"title": "broken"}, gpt({"u": (None, "user", "x")})], "chatgpt"),
        (gpt({"u": (None, "user", "x")}), "chatgpt"),
        ([{"chat_messages": []}], "claude"),
        ([{"id": "1", "chat": {"history": {"messages": {}}}}], "openwebui"),
        ({"conversationId": "1", "messages": []}, "librechat"),
        ([{"user": "Hi", "time": "2026-01-01T00:00:00Z"}], "jsonl"),
        ({"format": "arborweb-forest", "version": 1}, "arborweb"),
        ([], None),
        ([1, "a", None], None),
        ({"user": 5}, None),
        ([{"email": "x"}], None),
        (7, None),
    ],
)
def test_the_format_is_told_by_content(content, form):
    assert format_of(io.BytesIO(json.dumps(content).encode())) == form
    assert format_of(io.BytesIO(b"\xef\xbb\xbf \n" + json.dumps(content, indent=2).encode())) == form


def test_random_bytes_are_no_format():
    rng = random.Random(7)
    for start in (b"", b"[", b"{", b'[{"', b"[[[[", b'{"a":['):
        for _ in range(50):
            format_of(io.BytesIO(start + rng.randbytes(300)))


def test_pieces_are_the_elements_whatever_is_in_their_strings():
    values = [{"a": '], [ "} {', "b": [1, [2, {"c": "\\"}]]}, 'text, with ] and \\" signs', -1.5, None, [], {}, "é🌿" * 50]
    raw = json.dumps(values, ensure_ascii=False).encode()
    file = io.BytesIO(raw)
    assert [load(file, piece, 10_000) for piece in pieces(file, 1)] == values
    named = {"format": "x", "n": 1, "turns": values, "none": [], "head": {"a": 1, "b": [2]}}
    file = io.BytesIO(json.dumps(named).encode())
    found = [(piece.section, file.getvalue()[piece.start : piece.end].strip()) for piece in pieces(file, 2)]
    assert [json.loads(text) for section, text in found if section == "turns"] == values
    assert [text for section, text in found if section == "head"] == [b'"a": 1', b'"b": [2]']


def test_every_cut_gives_what_was_whole_before_it(monkeypatch):
    monkeypatch.setattr("memory.imports.stream.CHUNK", 7)  # strings and escapes over the edge of what is read at once
    values = [{"a": 'x\\"y', "b": [1, 2]}, {"c": "\u00fc, ]"}, {"d": {}}]
    raw = json.dumps(values, ensure_ascii=False).encode()
    ends = [raw.index(json.dumps(value, ensure_ascii=False).encode()) + len(json.dumps(value, ensure_ascii=False).encode()) for value in values]
    for cut in range(1, len(raw) + 1):
        file = io.BytesIO(raw[:cut])
        whole = [load(file, piece, 1000) for piece in pieces(file, 1) if piece.whole]
        assert whole == values[: sum(end < cut for end in ends)]


def test_a_truncated_export_keeps_what_was_readable_and_names_the_rest(tmp_path):
    raw = json.dumps([gpt({"u": (None, "user", f"turn {i}")}, conversation_id=f"c{i}") for i in range(3)])
    conversations, notes = read_all(tmp_path, raw[:-40])
    assert sorted(read.id for read in conversations) == ["c0", "c1"]
    assert notes == ["export.txt, conversation 3: left out: the file ends in the midst of it"]


def test_conversations_come_in_the_order_in_which_they_began(tmp_path):
    newest_first = [gpt({"u": (None, "user", "x")}, conversation_id=f"c{i}", create_time=1767600000 - i) for i in range(4)]
    undated = gpt({"u": (None, "user", "x", {"create_time": None})}, conversation_id="c9", create_time=None)
    conversations, _ = read_all(tmp_path, [undated, *newest_first])
    assert [read.id for read in conversations] == ["c3", "c2", "c1", "c0", "c9"]


def test_deep_nesting_is_no_depth_and_too_deep_is_an_error():
    assert decode("[" * 5000 + "]" * 5000)
    for text in ("[" * 20_000 + "]" * 20_000, "[" * 5000, "[" * 5000 + "}" * 5000, "[" * 3000 + '"a' + "]" * 3000):
        with pytest.raises(ValueError):
            decode(text)
    with pytest.raises(ValueError):
        load(io.BytesIO(b"[" + b"9" * 6000 + b"]"), Piece(1, 6001), 10_000)


def test_a_line_longer_than_allowed_is_passed_over():
    file = io.BytesIO(b'{"a": 1}\n' + b"x" * 5000 + b'\n\n{"b": 2}')
    found = list(lines(file, 100))
    assert [piece.end - piece.start for piece in found] == [9, 5001, 8]
    with pytest.raises(ValueError, match="MiB"):
        load(file, found[1], 100)


def test_reading_needs_little_memory_whatever_the_size(tmp_path):
    one = json.dumps(gpt({"u": (None, "user", "word " * 2000), "a": ("u", "assistant", "word " * 2000)}))
    path = tmp_path / "large"
    with path.open("w") as file:
        file.write("[" + ",".join([one] * 800) + "]")
    tracemalloc.start()
    surveyed = survey([(path, "large")])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert surveyed.total == 800 and path.stat().st_size > 15 << 20 and peak < 6 << 20


@pytest.mark.parametrize(
    ("value", "year"),
    [(1767600000.25, 2026), (1767600000250, 2026), ("2026-01-05T10:00:00.000Z", 2026), ("2026-01-05", 2026), ("1767600000", 2026)]
    + [(wrong, None) for wrong in (None, "", "soon", True, [], {}, float("nan"), float("inf"), -5, 1e300, 10**400, "9999-12-31T23:59:59-14:00", "1e999")],
)
def test_times_are_times_or_nothing(value, year):
    found = time_of(value)
    assert (found.year if found else None) == year


def test_ids_are_kept_or_shortened_to_something_as_distinct():
    assert id_of("c", "m") == "c/m"
    long = [id_of("c" * 300, str(number)) for number in range(2)]
    assert [len(name) for name in long] == [200, 200] and long[0] != long[1]


# --- Archives


def archive(tmp_path, members, compression=zipfile.ZIP_DEFLATED):
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, content in members:
            file.writestr(name, content if isinstance(content, bytes) else json.dumps(content))
    return path


def test_an_archive_gives_its_json_whatever_it_is_called(tmp_path):
    members = [
        ("../../etc/odd.bin", [gpt({"u": (None, "user", "One")})]),
        ("conversations-001.json", [gpt({"u": (None, "user", "Two")}, conversation_id="c2")]),
        ("user.json", {"email": "x"}),
        ("picture.png", b"\x89PNG"),
        ("empty.json", b""),
    ]
    (tmp_path / "plain").mkdir()
    files, notes = unpack(archive(tmp_path, members), tmp_path / "plain", SMALL)
    surveyed = survey(files)
    assert surveyed.total == 2 and surveyed.formats == {"chatgpt"}
    assert [str(note) for note in (*notes, *surveyed.notes)] == [
        "2 files of the archive aren't JSON (pictures, pages) and are left out",
        "user.json: it holds no conversations of a known format",
    ]
    assert all(path.parent == tmp_path / "plain" for path, _ in files)


@pytest.mark.parametrize(
    ("members", "limits", "said"),
    [
        ([("a.json", b"[" + b" " * (6 << 20))], SMALL, "more than 4 MiB"),
        ([("a.json", b"[" + b" " * (40 << 20))], Limits(1 << 20, 1 << 30), "so tightly"),
        ([(f"{i}.json", b"[]") for i in range(20)], Limits(1 << 20, 1 << 20, files=10), "20 files"),
    ],
)
def test_an_archive_packed_to_burst_is_refused(tmp_path, members, limits, said):
    (tmp_path / "plain").mkdir()
    with pytest.raises(Refusal, match=said) as refused:
        unpack(archive(tmp_path, members), tmp_path / "plain", limits)
    assert refused.value.large


def test_a_damaged_archive_gives_what_could_be_read(tmp_path):
    both = [gpt({"u": (None, "user", "One " * 20_000)}), gpt({"u": (None, "user", "Two")}, conversation_id="c2")]
    path = archive(tmp_path, [("a.json", both)], zipfile.ZIP_STORED)
    raw = bytearray(path.read_bytes())
    raw[raw.index(b"Two")] = ord("Q")  # the checksum is wrong now
    path.write_bytes(raw)
    (tmp_path / "plain").mkdir()
    files, notes = unpack(path, tmp_path / "plain", SMALL)
    assert [note.reason for note in notes] == ["damaged"] and files[0][0].stat().st_size >= 1 << 16
    path.write_bytes(raw[:-30])
    files, _ = unpack(path, tmp_path / "plain", SMALL)  # no archive any more: looked at as it is
    assert files == [(path, "export.zip")] and survey(files).formats == set()
