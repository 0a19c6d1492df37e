"""Claude, Open WebUI, LibreChat and our own lines."""

from datetime import UTC, datetime

from tests.imports.samples import read_all, reasons, told

ZERO = "00000000-0000-4000-8000-000000000000"


def claude(*messages, **more):
    return {"uuid": "c1", "name": "Basil", "created_at": "2026-01-05T10:00:00.5Z", "chat_messages": list(messages), **more}


def test_claude_keeps_what_was_edited_and_regenerated(tmp_path):
    conversation = claude(
        {"uuid": "m1", "sender": "human", "text": "Which pot?", "created_at": "2026-01-05T10:00:00Z", "parent_message_uuid": ZERO},
        {
            "uuid": "m2",
            "sender": "assistant",
            "content": [{"type": "thinking", "thinking": "secret"}, {"type": "text", "text": "20 cm."}],
            "parent_message_uuid": "m1",
        },
        {"uuid": "m3", "sender": "assistant", "text": "Terracotta.", "parent_message_uuid": "m1"},
        {"uuid": "m4", "sender": "human", "text": "Und Minze?", "parent_message_uuid": "m3"},
        {"uuid": "m5", "sender": "assistant", "content": [{"type": "tool_use", "name": "search"}], "text": "", "parent_message_uuid": "m4"},
        {"uuid": "m6", "sender": "assistant", "text": "Eigener Topf.", "parent_message_uuid": "m5"},
    )
    [read], _ = read_all(tmp_path, [conversation])
    assert told(read) == [("m2", None, "Which pot?", "20 cm."), ("m3", None, "Which pot?", "Terracotta."), ("m6", "m3", "Und Minze?", "Eigener Topf.")]
    assert "secret" not in str(read)


def test_an_older_claude_export_is_a_line_of_messages(tmp_path):
    attached = [{"file_name": "notes.txt", "extracted_content": "x" * 1200}]
    conversation = claude(
        {"uuid": "m1", "sender": "human", "text": "Read this", "attachments": attached, "files": [{"file_name": "a.png"}], "created_at": "2026-01-05T10:00:00"},
        {"uuid": "m2", "sender": "assistant", "text": "Done."},
        {"sender": "human", "text": "Thanks"},
        "no message",
    )
    [read], _ = read_all(tmp_path, [conversation])
    assert told(read) == [("m2", None, "Read this\n\n[Attachment: notes.txt, 1,200 characters]\n\n[File: a.png]", "Done."), ("m3", "m2", "Thanks", "")]
    assert [one.time for one in read.given] == [datetime(2026, 1, 5, 10, tzinfo=UTC)] * 2
    assert reasons(read) == ["no message", "no time"]


def test_open_webui_reads_the_tree_and_a_chat_without_one(tmp_path):
    nodes = {
        "m1": {"parentId": None, "childrenIds": ["m2", "m3"], "role": "user", "content": "哪种香草？", "timestamp": 1767600000},
        "m2": {
            "parentId": "m1",
            "childrenIds": [],
            "role": "assistant",
            "content": '<details type="reasoning" done="true">hm</details>\nBasil.',
            "timestamp": 1767600003,
        },
        "m3": {"parentId": "m1", "childrenIds": ["m4"], "role": "assistant", "content": "<think>hm</think>Thyme.", "timestamp": 1767600004},
        "m4": {"childrenIds": [], "role": "user", "content": [{"type": "text", "text": "And this?"}, {"type": "image_url", "image_url": {}}], "timestamp": "x"},
    }
    plain = {
        "id": "c2",
        "chat": {"title": "Plain", "messages": [{"role": "user", "content": "One"}, {"role": "assistant", "content": "Two"}, {"role": "user"}]},
    }
    conversations, _ = read_all(tmp_path, [{"id": "c1", "chat": {"title": "Garden", "history": {"messages": nodes}}}, plain])
    tree, line = sorted(conversations, key=lambda one: one.id)
    assert told(tree) == [("m2", None, "哪种香草？", "Basil."), ("m3", None, "哪种香草？", "Thyme."), ("m4", "m3", "And this?\n\n[Image]", "")]
    assert told(line) == [("m2", None, "One", "Two")]


def test_librechat_is_read_flat_and_nested_however_deep(tmp_path):
    begin = "00000000-0000-0000-0000-000000000000"
    third = {
        "messageId": "m3",
        "parentMessageId": "m1",
        "isCreatedByUser": False,
        "content": [{"type": "think", "think": "hm"}, {"type": "text", "text": {"value": "Warm."}}],
    }
    second = {"messageId": "m2", "parentMessageId": "m1", "sender": "GPT", "text": "24 °C.", "children": []}
    head = {"messageId": "m1", "parentMessageId": begin, "sender": "User", "text": "How warm?", "createdAt": "2026-01-05T10:00:00.000Z"}
    nested = {"conversationId": "c1", "title": "Bread", "recursive": True, "messages": [{**head, "children": [second, third]}]}
    flat = {"conversationId": "c1", "messages": [head, second, third]}
    for given in (nested, flat):
        [read], _ = read_all(tmp_path, given)
        assert told(read) == [("m2", None, "How warm?", "24 °C."), ("m3", None, "How warm?", "Warm.")]
    deep = "".join(
        f'{{"messageId": "d{i}", "isCreatedByUser": {"false" if i % 2 else "true"}, "text": "t \\u00e9 {i}", "n": -1.5e3, "children": [' for i in range(2000)
    )
    [read], _ = read_all(tmp_path, f'{{"conversationId": "c1", "messages": [{deep}{"]}" * 2000}]}}')
    assert len(read.given) == 1000 and read.given[-1].parent == "c1/d1997"


def test_an_error_instead_of_an_answer_is_left_out(tmp_path):
    messages = [
        {"messageId": "m1", "isCreatedByUser": True, "text": "Hi"},
        {"messageId": "m2", "parentMessageId": "m1", "isCreatedByUser": False, "text": "503", "error": True},
    ]
    [read], _ = read_all(tmp_path, {"conversationId": "c1", "messages": messages})
    assert told(read) == [("m1", None, "Hi", "")]


def test_our_own_lines_and_which_of_them_find_their_own_place(tmp_path):
    lines = [
        '{"id": "k1", "user": "We plan a kitchen.", "assistant": "Nice.", "time": "2026-01-05T10:00:00+01:00", "parent": null}',
        "not JSON",
        '{"id": "k2", "user": "Oak?", "parent": "k1", "time": "2026-01-05T09:00:00+01:00"}',
        '{"id": "n", "user": "  "}',
        "",
        '{"id": 5, "user": "Sourdough?"}',
        '{"id": "x", "user": "y", "parent": ["k1"]}',
    ]
    conversations, notes = read_all(tmp_path, "\ufeff" + "\r\n".join(lines))
    given = [read.given[0] for read in conversations]
    assert [(one.id, one.parent, one.free) for one in given] == [("k1", None, False), ("k2", "k1", False), ("5", None, True)]
    assert given[0].time == datetime(2026, 1, 5, 9, tzinfo=UTC) and given[2].time is None
    assert [note.split(":")[0] for note in notes] == ["export.txt, line 2", "export.txt, line 4", "export.txt, line 6"]
