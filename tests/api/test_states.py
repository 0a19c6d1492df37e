"""The drawing's window, one state, moving and deleting over REST; evidence and search."""

from __future__ import annotations

import gzip
from urllib.parse import quote

import pytest
from django.db import connection

from memory.models import AtomicFact, Forest, InteractionState, Topic, Turn
from tests.forests import START, learn, plant, say

pytestmark = pytest.mark.django_db


@pytest.fixture
def forest(ines):
    return plant(ines)


def test_windows_follow_each_other_without_gap_or_repeat(as_ines, forest):
    root = say(forest, "one", topic="Tree")
    states = [root, *(say(forest, f"state {number}", parent=root) for number in range(4)), say(forest, "other root", topic="Other")]
    seen, trees, after = [], {}, 0
    while after is not None:
        page = as_ines.ask("GET", f"forests/{forest.pk}/states/?limit=2&after={after}").json()
        assert (page["total"], page["active"]) == (6, states[-1].pk)
        seen += [row["id"] for row in page["results"]]
        trees |= {tree["root"]: tree["topic"] for tree in page["trees"]}
        after = page["next"]
    assert seen == [state.pk for state in states]
    assert trees == {root.pk: "Tree", states[-1].pk: "Other"}
    assert as_ines.ask("GET", f"forests/{forest.pk}/states/?after=99").json()["results"] == []


def test_moving_with_preview(as_ines, forest):
    root, other = say(forest, "a", topic="A"), say(forest, "b", topic="B")
    child = say(forest, "c", parent=root)
    path = f"states/{child.pk}/move/"
    assert as_ines.ask("POST", path + "?preview=1", {"parent": other.pk}).json()["counts"]["states"] == 1
    assert InteractionState.objects.get(pk=child.pk).parent_id == root.pk
    moved = as_ines.ask("POST", path, {"parent": other.pk}).json()
    assert (moved["state"]["parent"], moved["state"]["moved_from"], moved["tree"]["topic"]) == (other.pk, root.pk, "B")
    assert as_ines.ask("POST", path, {"new_root": True}).json()["state"]["parent"] is None
    assert as_ines.ask("POST", path, {}).status_code == 400
    assert as_ines.ask("POST", f"states/{root.pk}/move/", {"parent": child.pk}).json()["error"]["code"] == "conflict"
    trace = as_ines.ask("GET", f"turns/{child.turn_id}/trace/").json()
    assert (trace["decision"]["method"], trace["decision"]["corrected_by"]) == ("corrected", "ines")


def test_deleting_with_preview(as_ines, forest):
    root = say(forest, "a", topic="A")
    child = say(forest, "b", parent=root)
    path = f"states/{root.pk}/?mode=children_to_parent"
    assert as_ines.ask("DELETE", path + "&preview=1").json()["counts"]["children_moved"] == 1
    assert as_ines.ask("DELETE", path).json()["counts"]["states"] == 1
    assert InteractionState.objects.get().pk == child.pk
    assert as_ines.ask("DELETE", f"states/{child.pk}/?mode=odd").status_code == 400


def test_evidence_by_status_state_slot_and_kind(as_ines, forest):
    first, second = say(forest, "a"), say(forest, "b")
    old = learn(first, "Budget is 1", slot="k|b", value="1")
    new = learn(second, "Budget is 2", slot="k|b", value="2", replaces=old)
    learn(second, "Tiles are white")

    def ids(path):
        return [row["id"] for row in as_ines.ask("GET", f"forests/{forest.pk}/{path}").json()["results"]]

    assert old.pk not in ids("facts/") and len(ids("facts/")) == 2
    assert ids("facts/?status=superseded") == [old.pk]
    assert ids("facts/?slot=k|b&status=all") == [old.pk, new.pk]
    assert ids(f"facts/?state={first.pk}&status=all") == [old.pk]
    assert as_ines.ask("GET", f"forests/{forest.pk}/facts/?status=odd").status_code == 400
    revisions = as_ines.ask("GET", f"forests/{forest.pk}/revisions/?slot=k|b").json()["results"]
    assert [(row["old"]["id"], row["new"]["id"]) for row in revisions] == [(old.pk, new.pk)]
    assert len(ids(f"revisions/?state={first.pk}")) == 1


def test_records_come_kind_by_kind_page_by_page(as_ines, forest):
    state = say(forest, "a")
    made = [(kind, learn(state, f"{kind} {number}", kind).pk) for kind in ("artifact", "event", "mutable_state") for number in range(3)]
    seen, after = [], ""
    while after is not None:
        page = as_ines.ask("GET", f"forests/{forest.pk}/records/?limit=2{after and f'&after={after}'}").json()
        seen += [(row["kind"], row["id"]) for row in page["results"]]
        after = page["next"]
    assert seen == made
    only = as_ines.ask("GET", f"forests/{forest.pk}/records/?kind=event").json()["results"]
    assert {row["kind"] for row in only} == {"event"} and len(only) == 3


def test_an_item_is_revised(as_ines, forest):
    old = learn(say(forest, "a"), "Budget is 1", slot="k|b", value="1")
    new = learn(say(forest, "b"), "Budget is 2", slot="k|b", value="2", replaces=old)
    assert as_ines.ask("POST", f"items/fact/{new.pk}/revise/", {"do": "retract"}).json()["status"] == "retracted"
    assert as_ines.ask("GET", f"items/fact/{old.pk}/").json()["status"] == "current"
    assert as_ines.ask("POST", f"items/fact/{new.pk}/revise/", {"do": "edit"}).status_code == 400
    assert as_ines.ask("POST", f"items/fact/{new.pk}/revise/", {"do": "vanish"}).status_code == 400


def test_search_finds_turns_facts_and_topics_in_any_script(as_ines, forest):
    root = say(forest, "Which extractor hood fits?", "A recirculating one.", topic="Kitchen", words="extractor hood fit recircul")
    say(forest, "Garden plans", words="garden plan")
    learn(root, "厨房の予算は21,500ユーロです")
    learn(root, "100% wool_rug")

    def hits(q):
        answer = as_ines.ask("GET", f"forests/{forest.pk}/search/?q={quote(q)}")
        return [(hit["kind"], hit["state"]) for hit in answer.json()["results"]]

    assert ("turn", root.pk) in hits("hood")
    assert ("turn", root.pk) in hits("extr")  # as you type
    assert hits("kitch") == [("topic", root.pk)]
    assert hits("予算") == [("fact", root.pk)]
    assert hits("100%") == [("fact", root.pk)] and hits("wool_") == [("fact", root.pk)] and hits("%") == [("fact", root.pk)]
    accented = say(forest, "Where was that?", words="where")
    learn(accented, "Café Übermut in İzmir")
    assert hits("CAFÉ") == hits("übermut") == hits("İzmir") == [("fact", accented.pk)]
    assert hits("zebra") == []
    assert hits("   x") == []


def test_ten_thousand_states_are_drawn_within_a_megabyte_and_searched(as_ines, forest):
    """The budget of the page (EXPLORER): ≤ 1 MB gzip for the rows of 10,000 states."""
    number = 10_000
    turns = Turn.objects.bulk_create([Turn(forest=forest, client_id=f"n-{i}", status="refined", sent_at=START) for i in range(number)], batch_size=2000)
    words = ["kitchen", "hood", "budget", "garden", "tiles", "quote", "grout", "lamp", "wall", "window"]

    def state(i, turn):
        said = f"About the {words[i % 10]} number {i}"
        summary = f"Decides on {words[i % 10]} {words[(i * 7) % 10]} variant {i * 7919 % 10007}"
        return InteractionState(
            forest=forest, turn=turn, position=i + 1, root_id=0, branch_id=0, time=START, refined_at=START,
            user_text=said, node_summary=summary, entities=[f"Bosch {i % 500}"],
        )  # fmt: skip

    states = InteractionState.objects.bulk_create([state(i, turn) for i, turn in enumerate(turns)], batch_size=2000)
    root = states[0].pk
    InteractionState.objects.update(root_id=root, branch_id=root, parent=root)
    InteractionState.objects.filter(pk=root).update(parent=None)
    Topic.objects.create(forest=forest, root=states[0], key="Home")
    AtomicFact.objects.bulk_create(
        [
            AtomicFact(forest=forest, state=state, sources=[state.pk], text=f"The {words[i % 10]} costs {i} euros", event_time=START, known_from=i + 1)
            for i, state in enumerate(states)
        ],
        batch_size=2000,
    )
    Forest.objects.filter(pk=forest.pk).update(last_position=number, indexed_states=number)
    with connection.cursor() as cursor:  # as autovacuum does; without it the plans are guesses
        cursor.execute("ANALYZE")
    size, after, rows = 0, 0, 0
    while after is not None:
        answer = as_ines.ask("GET", f"forests/{forest.pk}/states/?after={after}")
        size += len(gzip.compress(answer.content))
        rows += len(answer.json()["results"])
        after = answer.json()["next"]
    assert rows == number
    assert size <= 1_000_000
    assert as_ines.ask("GET", f"forests/{forest.pk}/search/?q=kitchen+77").json()["results"]
