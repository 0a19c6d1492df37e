"""Putting routing right over REST: why not that one, moves and their history, several moves, replaying later turns, changes and undo."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection

from memory import steps
from memory.actions import grow_sample as growing
from memory.actions import replay_turns
from memory.actions.create_forest import create_forest
from memory.actions.forget import delete_state
from memory.actions.observe import observe
from memory.actions.refine import drain
from memory.actions.reroute import reroute
from memory.engine import inner
from memory.engine.calibration import Calibration
from memory.engine.net import Net
from memory.llm.embed import embedder
from memory.management.commands.fit_localization import written
from memory.models import Change, Forest, InteractionState, Job, Outbox, RoutingDecision
from tests.forests import learn, plant, say, trace

pytestmark = pytest.mark.django_db


@pytest.fixture
def sample(ines):
    """The sample forest: turns that found their own places, each refined before the next."""
    forest, job = growing.grow_sample(ines)
    growing.grow(job.pk)
    forest.refresh_from_db()
    return forest


@pytest.fixture
def home(ines):
    """Kitchen → hood → filters, garden; filters' answer was given the hood."""

    here = embedder()

    class Home:
        forest = plant(ines, name="Home")

    Home.kitchen = say(Home.forest, "Plan the kitchen", topic="Kitchen")
    Home.hood = say(Home.forest, "Hood", parent=Home.kitchen)
    Home.garden = say(Home.forest, "Garden", topic="Garden")
    Home.filters = say(Home.forest, "Filters", parent=Home.hood)
    Home.fact = learn(Home.filters, "Filters are of coal")
    trace(Home.filters, Home.hood)
    Forest.objects.filter(pk=Home.forest.pk).update(embedder=here.identity, dimensions=here.dimensions, weights_hash=here.weights_hash)
    Home.forest.refresh_from_db()
    return Home


def states_of(forest: Forest) -> list[InteractionState]:
    return list(InteractionState.objects.filter(forest=forest).select_related("turn__decision").order_by("position"))


# --- Why not that one?


def test_scored_again_as_it_stood_then_the_winner_scores_as_its_trace_says(sample, as_ines):
    states = states_of(sample)
    ranked = [state for state in states if state.turn.decision.method in ("recall", "new_root") and state.position > 3]
    assert len(ranked) > 5
    for state in ranked:
        told = state.turn.decision.candidates
        for one in told[:3]:
            if one["state"] is None:
                continue
            answer = as_ines.ask("GET", f"turns/{state.turn_id}/candidates/{one['state']}/").json()
            assert answer["changed"] is False, state.user_text
            assert answer["candidate"]["state"] == one["state"]
            assert answer["candidate"]["score"] == pytest.approx(one["score"], abs=0.005)
            assert answer["winner"]["state"] == told[0]["state"]
            assert answer["words"]


def test_it_says_in_words_what_spoke_against_a_place_that_was_no_candidate(sample, as_ines):
    states = states_of(sample)
    state = next(state for state in reversed(states) if state.turn.decision.method == "recall")
    other = next(one for one in states if one.root_id != state.root_id and one.position < state.position)
    answer = as_ines.ask("GET", f"turns/{state.turn_id}/candidates/{other.pk}/").json()
    assert answer["candidate"]["root"] == other.root_id and answer["state"] == other.pk
    assert answer["candidate"]["score"] < answer["winner"]["score"]
    assert answer["words"].startswith("It scores ") and " against " in answer["words"]
    assert {part["key"] for part in answer["parts"]} >= answer["candidate"]["parts"].keys()


def test_after_a_correction_it_says_that_the_forest_has_changed(sample, as_ines, ines):
    states = states_of(sample)
    state = next(state for state in reversed(states) if state.turn.decision.method == "recall" and state.turn.decision.chosen_id != state.root_id)
    chosen = InteractionState.objects.get(pk=state.turn.decision.chosen_id)
    other = next(one for one in states if one.root_id != chosen.root_id and one.position < chosen.position)
    reroute(chosen, other, ines)
    drain(sample.pk)
    assert as_ines.ask("GET", f"turns/{state.turn_id}/candidates/{other.pk}/").json()["changed"] is True


def weights(settings, tmp_path, calibration):
    """From here on the server localizes with these."""
    settings.LOCALIZER_WEIGHTS = tmp_path / f"{len(list(tmp_path.iterdir()))}.json"
    settings.LOCALIZER_WEIGHTS.write_text(written(calibration))


def tell(forest, *said):
    """Turns that are told one after the other, a day apart, with the place that each has, if it is given."""
    for number, (key, user, place) in enumerate(said):
        observe(forest, [{"id": key, "user": user, "assistant": "Noted.", "time": f"2026-03-{number + 5:02d}T10:00:00Z", **place}])
        drain(forest.pk)
    return states_of(forest)


CUES = {"continuation": 0.9, "temporal": 0.9}
KITCHEN = [
    ("a", "I am planning our kitchen in white oak.", {"new_root": True}),
    ("b", "The kitchen gets an extractor hood of steel.", {"parent": "a"}),
    ("c", "The hood comes on Friday.", {"parent": "b"}),
]

POEM = ("p", "Write a poem on snow in Iceland.", {"new_root": True})
GOES_BACK = replace(Calibration.linear({"active": -9.0, "new": -9.0}, CUES), earlier=Net.linear(inner.FEATURES, {"tip": -9.0}), threshold=0.1)


def test_of_a_turn_that_went_back_to_an_earlier_one_every_place_is_told(ines, as_ines, settings, tmp_path):
    weights(settings, tmp_path, GOES_BACK)
    a, b, c, p, turn = tell(create_forest(ines, "Back"), *KITCHEN, POEM, ("d", "Which steel is the kitchen hood made of?", {}))
    decision = turn.turn.decision
    assert decision.chosen_id in (a.pk, b.pk) and decision.candidates[0]["state"] == decision.chosen_id
    for state in (a, b, c, p):
        answer = as_ines.ask("GET", f"turns/{turn.turn_id}/candidates/{state.pk}/")
        assert answer.status_code == 200
        told = answer.json()
        assert told["winner"]["state"] == decision.chosen_id and told["changed"] is False
        if state.pk == p.pk:
            assert told["words"].startswith("It scores ")
        else:
            later = ", but after the place" if state.position > (a if decision.chosen_id == a.pk else b).position else ""
            assert told["words"].startswith(f"It lies on the branch that was chosen{later}: it goes on from an earlier turn, ")
            assert told["words"].endswith("; what came after is left aside.")


def test_a_turn_stays_at_the_tip_where_the_earlier_one_is_deleted_meanwhile(ines, settings, tmp_path):
    weights(settings, tmp_path, GOES_BACK)
    forest = create_forest(ines, "Gone")
    _, b, c, _ = tell(forest, *KITCHEN, POEM)
    forest.refresh_from_db()
    deleted = []

    def before(execute, sql, params, many, context):
        if "s.id = ANY" in sql and list(params)[1:] == [[b.pk]] and not deleted:
            deleted.append(b.pk)
            delete_state(b, "children_to_parent", ines)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(before):
        decision = steps.localize_text(forest, "Which steel is the kitchen hood made of?", c.time + timedelta(days=2)).decision
    assert deleted and (decision.parent, decision.candidates[0].state) == (c.pk, c.pk)


def test_of_a_turn_that_goes_on_before_an_unsure_one_it_is_told_that_this_is_left_aside(ines, as_ines, settings, tmp_path):
    weights(settings, tmp_path, Calibration.linear({"earlier": 9.0}, CUES))
    forest = create_forest(ines, "Aside")
    a, b, c = tell(forest, *KITCHEN)
    RoutingDecision.objects.filter(turn=c.turn_id).update(method="recall", probability=0.4)
    [*_, turn] = tell(forest, *KITCHEN, ("d", "Which steel is the kitchen hood made of?", {}))
    assert turn.turn.decision.chosen_id == b.pk and "left aside" in turn.turn.decision.why
    answer = as_ines.ask("GET", f"turns/{turn.turn_id}/candidates/{c.pk}/").json()
    assert answer["winner"]["state"] == b.pk
    assert answer["words"].startswith("It lies on the branch that was chosen, but after the place: it goes on from an earlier turn, ")
    assert answer["words"].endswith("; what came after was put there unsurely, and is left aside.")
    assert ", but after the place" not in as_ines.ask("GET", f"turns/{turn.turn_id}/candidates/{a.pk}/").json()["words"]


def test_a_state_that_came_later_is_refused(home, as_ines):
    answer = as_ines.ask("GET", f"turns/{home.hood.turn_id}/candidates/{home.garden.pk}/")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "conflict")
    assert as_ines.ask("GET", f"turns/{home.hood.turn_id}/candidates/{home.hood.pk}/").status_code == 409
    assert as_ines.ask("GET", f"turns/{home.garden.turn_id}/candidates/{home.hood.pk}/").status_code == 200


def test_a_state_of_another_forest_of_hers_is_unknown(home, as_ines, ines):
    elsewhere = say(plant(ines, "Elsewhere"), "Hello")
    assert as_ines.ask("GET", f"turns/{home.filters.turn_id}/candidates/{elsewhere.pk}/").status_code == 404


# --- Moves


def test_the_preview_tells_the_consequences_and_changes_nothing(home, as_ines):
    answer = as_ines.ask("POST", f"states/{home.hood.pk}/move/?preview=1", {"new_root": True}).json()
    assert answer["counts"] == {"states": 2, "used_by": 1} and answer["used_by"][0]["state"] == home.filters.pk
    assert (answer["trees"], answer["evidence"], answer["later"]) == ([], 1, 2)
    answer = as_ines.ask("POST", f"states/{home.filters.pk}/move/?preview=1", {"parent": home.garden.pk}).json()
    assert [tree["topic"] for tree in answer["trees"]] == ["Garden"]
    assert not Change.objects.exists()


def test_a_tree_named_by_a_turn_that_leaves_it_is_told_anew_as_a_whole(ines, as_ines):
    forest = create_forest(ines, "Named late")
    given = [
        ("hi", None, "Hi there!", "Hello!"),
        ("plan", "hi", "I am planning our kitchen.", "Good."),
        ("budget", "hi", "The budget is €5,000.", "Noted."),
    ]
    for number, (key, parent, user, assistant) in enumerate(given):
        place = {"parent": parent} if parent else {"new_root": True}
        observe(forest, [{"id": key, "user": user, "assistant": assistant, "time": f"2026-03-{number + 5:02d}T10:00:00Z", **place}])
        drain(forest.pk)
    hi, plan, budget = states_of(forest)
    assert "kitchen" in budget.path_summary.lower()
    preview = as_ines.ask("POST", f"states/{plan.pk}/move/?preview=1", {"new_root": True}).json()
    assert [tree["root"] for tree in preview["trees"]] == [hi.pk]
    as_ines.ask("POST", f"states/{plan.pk}/move/", {"new_root": True})
    drain(forest.pk)
    budget.refresh_from_db()
    trees = {tree["root"]: tree["topic"] for tree in as_ines.ask("GET", f"forests/{forest.pk}/states/").json()["trees"]}
    assert "kitchen" not in f"{budget.path_summary} {budget.node_summary} {trees[hi.pk]}".lower()
    assert "kitchen" in trees[plan.pk].lower()
    facts = as_ines.ask("GET", f"forests/{forest.pk}/facts/?state={budget.pk}").json()["results"]
    assert facts and "kitchen" not in str(facts).lower()


def test_history_tells_who_moved_it_when_and_from_where_to_where(home, as_ines):
    done = as_ines.ask("POST", f"states/{home.filters.pk}/move/", {"parent": home.garden.pk}).json()
    as_ines.ask("POST", f"changes/{done['change']}/undo/")
    as_ines.ask("POST", f"states/{home.filters.pk}/move/", {"new_root": True})
    [latest, first] = as_ines.ask("GET", f"states/{home.filters.pk}/moves/").json()["results"]
    assert (first["by"], first["from"]["state"], first["to"]["label"], first["undone"]) == ("ines", home.hood.pk, "Garden", True)
    assert (latest["to"], latest["undone"], latest["from"]["label"]) == (None, False, "Hood")


def test_a_place_that_was_deleted_is_no_root_in_history(home, as_ines, ines):
    as_ines.ask("POST", f"states/{home.filters.pk}/move/", {"parent": home.garden.pk})
    delete_state(home.hood, "with_children", ines)
    [move] = as_ines.ask("GET", f"states/{home.filters.pk}/moves/").json()["results"]
    assert move["from"] == {"state": None, "label": "(deleted)"}


def test_the_trace_tells_what_was_corrected_and_forgets_it_when_it_is_put_back(home, as_ines):
    as_ines.ask("POST", f"states/{home.filters.pk}/move/", {"parent": home.garden.pk})
    decision = as_ines.ask("GET", f"turns/{home.filters.turn_id}/trace/").json()["decision"]
    assert (decision["method"], decision["corrected_by"], decision["corrected_from"]) == ("corrected", "ines", {"state": home.hood.pk, "label": "Hood"})
    assert decision["corrected_at"]
    row = next(row for row in as_ines.ask("GET", f"forests/{home.forest.pk}/states/").json()["results"] if row["id"] == home.filters.pk)
    assert row["moved_from"] == home.hood.pk
    as_ines.ask("POST", f"states/{home.filters.pk}/move/", {"parent": home.hood.pk})
    decision = as_ines.ask("GET", f"turns/{home.filters.turn_id}/trace/").json()["decision"]
    assert (decision["method"], decision["corrected_by"], decision["corrected_from"], decision["corrected_at"]) == ("recall", None, None, None)
    row = next(row for row in as_ines.ask("GET", f"forests/{home.forest.pk}/states/").json()["results"] if row["id"] == home.filters.pk)
    assert row["moved_from"] is None


def test_several_moves_over_rest(home, as_ines):
    moves = [{"state": home.filters.pk, "parent": home.garden.pk}, {"state": home.hood.pk, "parent": None}]
    answer = as_ines.ask("POST", f"forests/{home.forest.pk}/moves/", {"moves": moves}).json()
    assert answer == {"moved": 2, "change": Change.objects.get().pk}
    home.filters.refresh_from_db()
    assert home.filters.parent_id == home.garden.pk
    assert as_ines.ask("POST", f"forests/{home.forest.pk}/moves/", {"moves": moves * 2}).status_code == 400
    assert as_ines.ask("POST", f"forests/{home.forest.pk}/moves/", {"moves": []}).status_code == 400


# --- Changes


def test_changes_are_listed_newest_first_with_what_can_be_undone(home, as_ines):
    moved = as_ines.ask("POST", f"states/{home.filters.pk}/move/", {"parent": home.garden.pk}).json()["change"]
    fact = learn(home.hood, "The hood is white")
    pinned = as_ines.ask("POST", f"items/fact/{fact.pk}/revise/", {"do": "pin"}).json()["change"]
    edited = as_ines.ask("POST", f"items/fact/{fact.pk}/revise/", {"do": "edit", "text": "The hood is black"}).json()["change"]
    [third, second, first] = as_ines.ask("GET", f"forests/{home.forest.pk}/changes/").json()["results"]
    assert [(row["id"], row["action"], row["undoable"]) for row in (first, second, third)] == [
        (moved, "move", True),
        (pinned, "pin", False),
        (edited, "edit", True),
    ]
    assert first["words"] == "Moved “Filters” from “Hood” to “Garden”." and first["state"] == home.filters.pk and first["item"] is None
    assert third["words"] == "Changed “The hood is white” to “The hood is black”." and third["item"] == {"kind": "fact", "id": fact.pk}
    page = as_ines.ask("GET", f"forests/{home.forest.pk}/changes/?limit=2").json()
    assert page["next"] == pinned
    assert [row["id"] for row in as_ines.ask("GET", f"forests/{home.forest.pk}/changes/?before={page['next']}").json()["results"]] == [moved]
    answer = as_ines.ask("POST", f"changes/{pinned}/undo/")
    assert (answer.status_code, answer.json()["error"]["message"]) == (409, "It was changed again since.")
    undone = as_ines.ask("POST", f"changes/{edited}/undo/").json()
    assert undone["undone_at"] and undone["undoable"] is False and undone["words"] == "Changed “The hood is white” to another wording."


# --- Replay


def test_later_turns_are_localized_again_and_nothing_is_moved(sample, as_ines, ines):
    states = states_of(sample)
    # A turn in the middle and what follows it is put to a root of its own: those that come later and spoke of its matter may follow it.
    moved = next(state for state in states if state.parent_id and state.children.exists() and state.position > 5)
    reroute(moved, None, ines)
    before = list(InteractionState.objects.filter(forest=sample).order_by("pk").values_list("parent_id"))
    answer = as_ines.ask("POST", f"forests/{sample.pk}/replay/", {"after": moved.position})
    assert (answer.status_code, answer.json()["kind"], answer.json()["status"]) == (202, "replay", "waiting")
    assert as_ines.ask("POST", f"forests/{sample.pk}/replay/", {"after": 1}).status_code == 409
    replay_turns.run(answer.json()["id"])
    job = as_ines.ask("GET", f"jobs/{answer.json()['id']}/").json()
    assert job["status"] == "done", job
    placed = [state for state in states if state.position > moved.position and state.turn.decision.method in ("recall", "continuation", "temporal", "new_root")]
    assert job["result"]["looked_at"] == job["done"] == len(placed) > 0
    assert list(InteractionState.objects.filter(forest=sample).order_by("pk").values_list("parent_id")) == before
    for proposal in job["result"]["proposals"]:
        state = InteractionState.objects.get(pk=proposal["state"])
        assert proposal["from"] == state.parent_id != proposal["to"]
        again = steps.localize_text(Forest.objects.get(pk=sample.pk), state.user_text, state.time, as_of=state.position - 1).decision
        assert (again.parent, round(again.probability, 4)) == (proposal["to"], proposal["probability"])
    kept = Job.objects.get(pk=job["id"]).result
    assert not any("label" in proposal for proposal in kept["proposals"])


def test_a_turn_that_a_wrong_place_drew_after_it_is_proposed_to_follow(ines, as_ines):
    forest = create_forest(ines, "Wrong")
    talk = [
        ("a", {"new_root": True}, "I am planning our kitchen in white oak.", "Fine."),
        ("b", {"new_root": True}, "Help me write my talk about volcanoes in Iceland.", "Gladly."),
        ("c", {"parent": "a"}, "The volcano talk in Iceland needs slides on lava and magma.", "Slides on lava and magma, then."),  # put wrong
        ("d", {"parent": "c"}, "How many slides on lava and magma does the volcano talk need?", "Twelve."),
    ]
    for number, (key, place, user, assistant) in enumerate(talk):
        observe(forest, [{"id": key, "user": user, "assistant": assistant, "time": f"2026-03-{number + 5:02d}T10:00:00Z", **place}])
        drain(forest.pk)
    a, b, c, d = states_of(forest)
    assert d.parent_id == c.pk
    # c was wrong, but d, its child, is to stay where it is until a person says so: only c moves here.
    Forest.objects.filter(pk=forest.pk).update(active_state=d)
    reroute(d, a, ines)
    RoutingDecision.objects.filter(turn=d.turn_id).update(method="recall")
    reroute(c, b, ines)
    job = replay_turns.begin(forest, c.position)
    replay_turns.run(job.pk)
    [proposal] = as_ines.ask("GET", f"jobs/{job.pk}/").json()["result"]["proposals"]
    assert (proposal["state"], proposal["from"], proposal["to"]) == (d.pk, a.pk, c.pk)
    assert proposal["label"] and proposal["from_label"] and proposal["to_label"]
    as_ines.ask("POST", f"forests/{forest.pk}/moves/", {"moves": [{"state": proposal["state"], "parent": proposal["to"]}]})
    d.refresh_from_db()
    assert d.parent_id == c.pk


def test_proposals_of_states_that_were_deleted_are_left_out(home, as_ines, ines):
    proposal = {"state": home.filters.pk, "from": home.hood.pk, "to": home.garden.pk, "probability": 0.9, "unsure": False}
    job = Job.objects.create(forest=home.forest, kind="replay", status="done", result={"after": 1, "proposals": [proposal], "looked_at": 1})
    assert as_ines.ask("GET", f"jobs/{job.pk}/").json()["result"]["proposals"][0]["to_label"] == "Garden"
    delete_state(home.garden, "with_children", ines)
    assert as_ines.ask("GET", f"jobs/{job.pk}/").json()["result"] == {"proposals": [], "looked_at": 1}


def test_a_replay_that_was_stopped_says_nothing_more(home):
    job = replay_turns.begin(home.forest, 1)
    Job.objects.filter(pk=job.pk).update(status="failed")
    replay_turns.run(job.pk)
    job.refresh_from_db()
    assert (job.status, job.result["looked_at"], job.done) == ("failed", 0, 0)
    assert Outbox.objects.filter(kind="replay", subject=job.pk).exists()


def test_where_nothing_was_placed_by_localization_there_is_nothing_to_replay(home, as_ines):
    RoutingDecision.objects.update(method="given")
    answer = as_ines.ask("POST", f"forests/{home.forest.pk}/replay/", {"after": 0})
    assert (answer.status_code, answer.json()["error"]["message"]) == (409, "No later turn was placed by localization.")
