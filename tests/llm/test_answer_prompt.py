"""The request for an answer: stable beginning, quoted memory, the input last."""

from __future__ import annotations

from datetime import UTC, datetime

from memory.engine.assemble import rendered
from memory.engine.forest import Block, Context, Item
from memory.llm.prompts.answer import ANCHOR, NO_MEMORY, answer_messages
from memory.llm.tokens import count

NOW = datetime(2026, 11, 15, 8, 31, tzinfo=UTC)


def block(name: str, *texts: str) -> Block:
    items = tuple(Item("fact", text, count(text), (1,)) for text in texts)
    bare = Block(name, name, items, 0)
    return Block(name, name, items, count(rendered(bare)))


def context(*blocks: Block) -> Context:
    return Context(blocks, (), sum(one.tokens for one in blocks), 16_384)


def test_the_system_message_never_changes() -> None:
    one = answer_messages(context(), "Hi", NOW, "UTC").messages[0]
    other = answer_messages(context(block("DataContext", "The budget is €21,500.")), "And now?", NOW, "Asia/Tokyo").messages[0]
    assert one == other == {"role": "system", "content": ANCHOR}
    assert count(ANCHOR) < 500


def test_memory_comes_first_then_the_time_then_the_input() -> None:
    content = answer_messages(context(block("DataContext", "The budget is €21,500.")), "What is the budget?", NOW, "Europe/Vienna").messages[1]["content"]
    assert content.startswith("<DataContext>\nThe budget is €21,500.\n</DataContext>\n")
    assert "Current time: Sun 15 Nov 2026, 09:31 (Europe/Vienna)." in content
    assert content.endswith("The user says:\nWhat is the budget?")


def test_without_memory_it_is_said() -> None:
    request = answer_messages(context(), "What is the budget?", NOW, "UTC")
    assert NO_MEMORY in request.messages[1]["content"] and request.evidence_tokens == 0


def test_formats_follow_the_blocks() -> None:
    content = answer_messages(context(block("ArtifactEvidence", "2. Casa Nova")), "The second?", NOW, "UTC").messages[1]["content"]
    assert "“The second one” means" in content
    assert "“The second one” means" not in answer_messages(context(), "The second?", NOW, "UTC").messages[1]["content"]


def test_the_parts_are_counted_apart() -> None:
    held = context(block("DataContext", "The budget is €21,500."))
    request = answer_messages(held, "What is the budget?", NOW, "UTC")
    assert request.evidence_tokens == held.tokens
    assert request.input_tokens == count("What is the budget?")
    whole = sum(count(message["content"]) for message in request.messages)
    parts = request.instructions_tokens + request.evidence_tokens + request.input_tokens
    assert abs(whole - parts) < 12
