"""ChatGPT: branches, edits and regenerations stay, what says nothing is passed through, marks and attachments are cleaned."""

from datetime import UTC, datetime

import pytest

from tests.imports.samples import first, gpt, read_all, reasons, told

HIDDEN = {"metadata": {"is_visually_hidden_from_conversation": True}}


def test_regenerated_and_edited_turns_are_beside_each_other(tmp_path):
    conversation = gpt(
        {
            "root": (None, None, ""),
            "u1": ("root", "user", "Which pot for basil?"),
            "a1": ("u1", "assistant", "20 cm."),
            "a2": ("u1", "assistant", "Terracotta."),
            "u2": ("a2", "user", "And mint?"),
            "a3": ("u2", "assistant", "A pot of its own."),
            "u3": ("a2", "user", "And thyme?"),
            "a4": ("u3", "assistant", "Sandy soil."),
        }
    )
    [read], _ = read_all(tmp_path, [conversation])
    assert told(read) == [
        ("a1", None, "Which pot for basil?", "20 cm."),
        ("a2", None, "Which pot for basil?", "Terracotta."),
        ("a3", "a2", "And mint?", "A pot of its own."),
        ("a4", "a2", "And thyme?", "Sandy soil."),
    ]
    assert read.given[0].question == read.given[1].question
    assert read.given[0].time == datetime(2026, 1, 5, 8, 0, 1, 500000, tzinfo=UTC)


def test_what_says_nothing_is_passed_through_and_its_subtree_stays(tmp_path):
    conversation = gpt(
        {
            "s": (None, "system", ""),
            "ctx": ("s", "user", {"content_type": "user_editable_context", "user_profile": "…"}, HIDDEN),
            "u1": ("ctx", "user", "Look it up"),
            "think": ("u1", "assistant", {"content_type": "thoughts", "thoughts": [{"content": "Hm, the secret"}]}),
            "call": ("think", "assistant", {"content_type": "code", "text": "search('pots')"}, {"recipient": "browser"}),
            "tool": ("call", "tool", "A long page"),
            "a1": ("tool", "assistant", "Found it."),
            "hid": ("a1", "user", "A hidden nudge", HIDDEN),
            "a2": ("hid", "assistant", "More of it."),
            "u2": ("a2", "user", "Thanks"),
        }
    )
    [read], _ = read_all(tmp_path, [conversation])
    assert told(read) == [("a2", None, "Look it up", "Found it.\n\nMore of it."), ("u2", "a2", "Thanks", "")]
    assert reasons(read) == ["hidden", "thoughts", "a call of a tool", "output of a tool", "hidden"]
    assert "secret" not in str(read)


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (["One", "two"], "One\n\ntwo"),
        (["It rains \ue200cite\ue202turn0search1\ue202turn0search2\ue201."], "It rains."),
        (['In \ue200entity\ue202["city","Lisbon","capital"]\ue201 it rains【12†source】.'], "In Lisbon it rains."),
        ([{"content_type": "image_asset_pointer", "asset_pointer": "file://x"}, "What is this?"], "[Image]\n\nWhat is this?"),
        ([{"content_type": "audio_transcription", "text": "Hallo"}, {"content_type": "audio_asset_pointer", "asset_pointer": "s"}], "Hallo"),
        (["見て ![logo](data:image/png;base64,AAAA) 🌿"], "見て [Image: logo] 🌿"),
        (["nul \x00 and half \ud83d of a pair"], "nul  and half \ufffd of a pair"),
        (["مرحبا", None, 7, ""], "مرحبا\n\n[Attachment]\n\n[Attachment]"),
    ],
)
def test_parts_are_joined_marks_cleaned_and_attachments_said_in_words(tmp_path, parts, said):
    [read], _ = read_all(tmp_path, [gpt({"u": (None, "user", {"content_type": "multimodal_text", "parts": parts})})])
    assert first([read]).user == said


def test_a_file_a_picture_made_and_a_document_written_are_named(tmp_path):
    files = {"metadata": {"attachments": [{"name": "plan.pdf"}, 3]}}
    made = {"content_type": "multimodal_text", "parts": [{"content_type": "image_asset_pointer", "metadata": {"dalle": {"prompt": "an oak"}}}]}
    canvas = {"content_type": "code", "text": '{"name": "Letter", "type": "document", "content": "Dear all"}'}
    nodes = {
        "u": (None, "user", "Draw it", files),
        "call": ("u", "assistant", canvas, {"recipient": "canmore.create_textdoc"}),
        "t": ("call", "tool", made),
        "c": ("t", "assistant", {"content_type": "code", "language": "python", "text": "print(1)"}),
    }
    [read], _ = read_all(tmp_path, [gpt(nodes)])
    assert told(read) == [("c", None, "Draw it\n\n[File: plan.pdf]", "Letter\n\nDear all\n\n[Image: an oak]\n\n```python\nprint(1)\n```")]


def test_an_answer_that_failed_is_no_turn_beside_one_that_came(tmp_path):
    nodes = {"u": (None, "user", "Hi"), "empty": ("u", "assistant", ""), "a": ("u", "assistant", "Hello")}
    [read], _ = read_all(tmp_path, [gpt(nodes)])
    assert told(read) == [("a", None, "Hi", "Hello")]
    assert reasons(read) == ["empty"]


def test_an_answer_without_a_question_and_a_question_without_an_answer_stay(tmp_path):
    nodes = {"a": (None, "assistant", "Welcome"), "u1": ("a", "user", "One"), "u2": ("u1", "user", "Two"), "b": ("u1", "assistant", "Yes")}
    [read], _ = read_all(tmp_path, [gpt(nodes)])
    assert told(read) == [("a", None, "", "Welcome"), ("u1", "a", "One", ""), ("u2", "u1", "Two", ""), ("b", "a", "One", "Yes")]


def test_circles_unknown_parents_and_odd_values_cost_nothing_else(tmp_path):
    circle = gpt({"a": ("b", "user", "A"), "b": ("a", "assistant", "B"), "c": ("nowhere", "user", "C")})
    odd = gpt({"u": (None, "user", "Fine")}, create_time="soon", title=["x"], conversation_id=None)
    odd["mapping"] |= {"x": 5, "y": {"message": {"author": "me", "content": [], "create_time": 1e300}, "parent": {}}, "z": {"message": [], "children": "no"}}
    conversations, notes = read_all(tmp_path, [circle, {"title": "No mapping"}, 7, None, odd, gpt({"u": (None, "user", "Last")}, conversation_id="c9")])
    by_id = {read.id: read for read in conversations}
    assert {(one.user, one.assistant) for one in by_id["c1"].given} == {("A", "B"), ("C", "")} or {one.user for one in by_id["c1"].given} == {"A", "C", ""}
    assert {"circle", "unknown parent"} <= set(reasons(by_id["c1"]))
    assert "Fine" in {one.user for read in conversations for one in read.given}
    assert [one.user for one in by_id["c9"].given] == ["Last"]
    assert len(notes) == 2 and "conversation 2" in notes[0] and "conversation 3" in notes[1]


def test_a_long_chain_is_no_depth(tmp_path):
    nodes = {f"n{i}": (f"n{i - 1}" if i else None, "assistant" if i % 2 else "user", f"text {i}") for i in range(4_000)}
    [read], _ = read_all(tmp_path, [gpt(nodes)])
    assert len(read.given) == 2_000
    answers = {f"n{i}": (f"n{i - 1}" if i else None, "assistant", f"text {i}") for i in range(1_000)}
    [read], _ = read_all(tmp_path, [gpt(answers)])
    assert reasons(read) == ["long answer"]
