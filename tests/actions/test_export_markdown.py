"""A forest as Markdown: topics as headings, branches in order, times in its zone, facts with their sources; nothing said leaves its place."""

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from markdown_it import MarkdownIt

from memory.actions.export_markdown import export_markdown
from memory.actions.forget import delete_state
from memory.actions.forget_item import delete_item
from memory.models import AtomicFact, Forest
from tests.forests import START, learn, plant, say, wait

pytestmark = pytest.mark.django_db


def document(forest, state=None):
    with export_markdown(forest, state) as file:
        return file.read().decode()


def headings(text):
    tokens = MarkdownIt().parse(text)
    return [(int(token.tag[1]), tokens[at + 1].children[0].content) for at, token in enumerate(tokens) if token.type == "heading_open" and token.level == 0]


def test_topics_are_headings_and_branches_stand_in_order(home):
    text = document(home.forest)
    assert headings(text) == [
        (1, "Home"),
        (2, "Kitchen"),
        (3, "The first branch"),
        (4, "Turn 1, Mon 2 March 2026, 10:00"),
        (4, "Turn 2, Mon 2 March 2026, 11:00"),
        (4, "Turn 3, Mon 2 March 2026, 12:00"),
        (4, "Turn 6, Mon 2 March 2026, 15:00"),
        (3, "Branch from turn 2: Tiles"),
        (4, "Turn 5, Mon 2 March 2026, 14:00"),
        (2, "Garden"),
        (3, "Turn 4, Mon 2 March 2026, 13:00"),
    ]
    assert "6 turns, 2 topics." in text
    assert "**You**\n\n> Plan the kitchen\n\n**Answer**\n\n> Yes\n\n" in text


def test_times_are_those_of_the_forest_over_midnight(home):
    Forest.objects.filter(pk=home.forest.pk).update(time_zone="Pacific/Kiritimati")
    text = document(home.forest)
    assert "Turn 1, Tue 3 March 2026, 00:00" in text and "Turn 4, Tue 3 March 2026, 03:00" in text
    assert "times are those of Pacific/Kiritimati" in text


def test_what_is_remembered_names_its_turns_its_words_and_what_became_of_it(home):
    old = learn(home.kitchen, "Budget is 20,000", slot="k|b")
    new = learn(home.hood, "Budget is 21,500", slot="k|b", replaces=old, evidence="we settled on 21,500")
    AtomicFact.objects.filter(pk=new.pk).update(sources=[home.hood.pk, home.filters.pk], pinned=True, event_time=START - timedelta(days=3))
    learn(home.tiles, "Tiles are white", status="retracted")
    learn(home.garden, "Visited the nursery", "event")
    text = document(home.forest)
    kitchen, garden = text.split("## Garden")
    assert "### What is remembered\n\n**Facts**\n\n" in kitchen
    assert "- Budget is 20,000 · turn 1, Mon 2 March 2026, 10:00 · replaced by “Budget is 21,500”\n" in kitchen
    hood = "turn 3, Mon 2 March 2026, 12:00 · turn 6, Mon 2 March 2026, 15:00"
    assert f"- Budget is 21,500 · {hood} · of Fri 27 February 2026 · pinned · “we settled on 21,500”\n" in kitchen
    assert "- Tiles are white · turn 5, Mon 2 March 2026, 14:00 · taken back\n" in kitchen
    assert "**Events**\n\n- Visited the nursery · turn 4, Mon 2 March 2026, 13:00\n" in garden


def test_a_path_is_its_turns_and_what_they_taught(home):
    learn(home.kitchen, "Budget is 20,000")
    learn(home.filters, "Filters are of coal")
    learn(home.garden, "Roses")
    text = document(home.forest, home.tiles)
    assert headings(text) == [
        (1, "Home"),
        (2, "Kitchen"),
        (3, "Turn 1, Mon 2 March 2026, 10:00"),
        (3, "Turn 2, Mon 2 March 2026, 11:00"),
        (3, "Turn 5, Mon 2 March 2026, 14:00"),
        (3, "What is remembered"),
    ]
    assert "The path to turn 5, of 6 turns." in text
    assert "Budget" in text and "Filters are of coal" not in text and "Roses" not in text


def test_nothing_said_can_leave_its_place(ines):
    evil = "# Kitchen\n\n</blockquote><script>alert(1)</script>\n\n```\nopen\n\n## Turn 99, never\n[a]: javascript:x\n![p](https://x.org/p.png)"
    forest = plant(ines, name="Home <b>\n# x")
    state = say(forest, evil, evil, topic="[a] ## <i>", node_summary=evil)
    say(forest, evil, evil, state)
    say(forest, evil, evil, state, node_summary=evil)
    learn(state, evil, evidence=evil.replace("a", "b"))
    text = document(forest)
    reader, env = MarkdownIt("commonmark", {"html": True}), {}
    tokens = reader.parse(text, env)
    types = {token.type for token in tokens} | {child.type for token in tokens for child in token.children or []}
    assert not types & {"html_block", "html_inline", "image"} and env.get("references", {}) == {}
    assert [level for level, _ in headings(text)] == [1, 2, 3, 4, 4, 3, 4, 3]
    assert sum(token.type == "blockquote_open" for token in tokens) == 6, "each text is one quotation"


def test_turns_that_are_no_part_of_memory_are_not_in_it(home):
    wait(home.forest, "Waiting for an answer")
    wait(home.forest, "Broken", status="interrupted", partial="half an answer")
    text = document(home.forest)
    assert "Waiting" not in text and "Broken" not in text and "half" not in text


def test_what_was_deleted_is_not_in_it(home, ines):
    learn(home.tiles, "Tiles are white")
    gone = learn(home.kitchen, "Budget is 20,000")
    delete_item(gone, ines)
    delete_state(home.tiles, "with_children", ines)
    text = document(home.forest)
    assert "Tiles" not in text and "20,000" not in text and "5 turns" in text


def test_the_command_writes_it_whole_or_the_path_to_a_turn(home, tmp_path):
    path = tmp_path / "home.md"
    call_command("export_forest", "Home", "--markdown", "--out", str(path))
    assert path.read_text().startswith("# Home\n")
    call_command("export_forest", "Home", "--markdown", "--turn", "4", "--out", str(path))
    assert "Garden" in path.read_text() and "Kitchen" not in path.read_text()
    with pytest.raises(CommandError, match="no turn 99"):
        call_command("export_forest", "Home", "--markdown", "--turn", "99")
    with pytest.raises(CommandError, match="--markdown"):
        call_command("export_forest", "Home", "--turn", "4")
