"""The request for an answer: stable beginning, quoted memory, the input last."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.engine import query
from memory.engine.assemble import rendered
from memory.engine.forest import Block, Context, Item
from memory.llm.prompts.answer import ANCHOR, NO_MEMORY, TWO_THREADS, WITH_FACTS, WITH_HISTORY, AnswerRequest, answer_messages, formats
from memory.llm.tokens import count

NOW = datetime(2026, 11, 15, 8, 31, tzinfo=UTC)


def block(name: str, *texts: str) -> Block:
    items = tuple(Item("fact", text, count(text), (1,)) for text in texts)
    bare = Block(name, name, items, 0)
    return Block(name, name, items, count(rendered(bare)))


def context(*blocks: Block) -> Context:
    return Context(blocks, (), sum(one.tokens for one in blocks), 16_384)


def asked(text: str, held: Context, zone: str = "UTC") -> AnswerRequest:
    return answer_messages(held, query.read(text, NOW, zone))


def lines(text: str, *names: str) -> list[str]:
    """The lines about the form of an answer to this question with these blocks."""
    return formats(context(*[block(name, "x") for name in names]), query.read(text, NOW))


def test_the_system_message_never_changes() -> None:
    one = asked("Hi", context()).messages[0]
    other = asked("And now?", context(block("DataContext", "The budget is €21,500.")), "Asia/Tokyo").messages[0]
    assert one == other == {"role": "system", "content": ANCHOR}
    assert count(ANCHOR) < 350


def test_memory_comes_first_then_the_time_then_the_input() -> None:
    content = asked("What is the budget?", context(block("DataContext", "The budget is €21,500.")), "Europe/Vienna").messages[1]["content"]
    assert content.startswith("<DataContext>\nThe budget is €21,500.\n</DataContext>\n")
    assert "Current time: Sun 15 Nov 2026, 09:31 (Europe/Vienna)." in content
    assert content.endswith("The user says:\nWhat is the budget?")


def test_a_path_that_grows_keeps_its_beginning() -> None:
    """What a server's prompt cache needs: the next turn of a thread begins as the last one did, up to the end of its path."""
    path = ["[Mon 2 Mar 2026, 10:00]\nUser: We plan a kitchen.", "[Mon 2 Mar 2026, 11:00]\nUser: The oven goes left."]
    first = asked("And the sink?", context(block("ConversationHistory", path[0]), block("DataContext", "a"))).messages[1]["content"]
    second = asked("And the hob?", context(block("ConversationHistory", *path), block("DataContext", "b"))).messages[1]["content"]
    assert second.startswith(first[: first.index("</ConversationHistory>")])


def test_the_conflict_order_and_the_reading_order_are_told() -> None:
    order = [ANCHOR.index(word) for word in ("EventComputationEvidence", "previous", "UpdateEvidence", "more recent piece", "SupplementalEvidence never")]
    assert order == sorted(order)
    with_facts = asked("Hi", context(block("ConversationHistory", "x"), block("DataContext", "y"))).messages[1]["content"]
    thread_only = asked("Hi", context(block("ConversationHistory", "x"))).messages[1]["content"]
    assert WITH_FACTS in with_facts and WITH_HISTORY not in with_facts
    assert WITH_HISTORY in thread_only and WITH_FACTS not in thread_only


def test_a_second_thread_is_told_apart() -> None:
    content = asked("Hi", context(block("ConversationHistory", "x"), block("ConversationHistory", "y"))).messages[1]["content"]
    assert TWO_THREADS in content


def test_without_memory_it_is_said_and_nothing_about_forms() -> None:
    request = asked("Is the budget lower than before?", context())
    assert NO_MEMORY in request.messages[1]["content"] and request.evidence_tokens == 0
    assert lines("Is the budget lower than before?") == []


@pytest.mark.parametrize(
    ("text", "blocks", "line"),
    [
        ("How many times did I run last month?", ("EventComputationEvidence",), "State the computed result first"),
        ("How many times did I run last month?", ("EventEvidence",), "then the total"),
        ("What was the previous budget?", ("UpdateEvidence",), "The earlier value is asked for"),
        ("What is the current budget?", ("UpdateEvidence",), "The value that holds now"),
        ("Has the budget changed?", ("UpdateEvidence",), "Say what the value was"),
        ("Did we book the flight?", ("DataContext",), "begin with yes or no"),
        ("What was the second restaurant on your list?", ("ArtifactEvidence",), "“The second one” means"),
        ("Can you recommend a film?", ("PreferenceEvidence",), "say which one did"),
        ("Is it on the same day as the dentist that I mentioned?", ("BridgeEvidence",), "value they share"),
        ("What about the oven?", ("TopicSlotEvidence",), "prefer its values"),
        ("Which came first, the oven or the sink?", ("EventEvidence",), "side by side"),
    ],
)
def test_the_form_follows_the_question_and_what_there_is(text: str, blocks: tuple[str, ...], line: str) -> None:
    assert any(line in told for told in lines(text, *blocks)), lines(text, *blocks)


def test_a_plain_question_gets_no_lines() -> None:
    assert lines("My sister lives in Lyon.", "ConversationHistory", "DataContext", "ArtifactEvidence") == []


def test_a_computed_count_is_not_counted_again() -> None:
    assert not any("then the total" in told for told in lines("How many times did I run?", "EventComputationEvidence", "CountSourceEvidence"))


def test_the_parts_are_counted_apart() -> None:
    held = context(block("DataContext", "The budget is €21,500."))
    request = asked("What is the budget?", held)
    assert request.evidence_tokens == held.tokens
    assert request.input_tokens == count("What is the budget?")
    whole = sum(count(message["content"]) for message in request.messages)
    assert abs(whole - request.tokens) < 12
    assert request.instructions_tokens < 600
