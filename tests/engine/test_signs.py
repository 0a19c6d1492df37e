"""What spoke for each place, and the words that say so."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest

from memory.engine import pieces, signs
from memory.engine.contrast import SAYS, contrast, says
from memory.engine.feature_names import PARTS
from memory.engine.features import Places
from memory.engine.forest import Anchor, Candidate, Interaction, Lane, Recall, Sign
from memory.engine.query import Query, read
from memory.engine.terms import entity_terms, terms
from tests import effort

NOON = datetime(2026, 11, 12, 12, 0, tzinfo=UTC)
CEILING = "How high is the ceiling?"


def asked(text: str) -> Query:
    return read(text, NOON, "Europe/Paris")


def lane(branch: int, said: str = "", **more: object) -> Lane:
    tip = Interaction(branch, branch, None, branch, branch, 0, NOON - timedelta(hours=branch), said, "")
    kept = {"terms": frozenset(terms(said)), "tip_terms": frozenset(terms(said)), "names": frozenset(entity_terms(said)), **more}
    return Lane(tip, [branch], **kept)  # type: ignore[arg-type]


def of(
    query: Query, *lanes: Lane, active: int | None = None, anchors: tuple[Anchor, ...] = (), counted: Mapping[str, int] | None = None
) -> dict[int | None, signs.Signs]:
    by_branch = {one.tip.branch: one for one in lanes}
    recall = Recall([], by_branch, by_branch[active].tip if active else None, anchors, counted or {}, len(lanes), 10.0)
    places = Places.of(query, recall)
    shared = {at: [term for term in query.content if term in one.terms] for at, one in enumerate(places.lanes)}
    return signs.read(query, recall, places, shared)


def asking(question: str, *, near: float, answered: float = 0.0, branch: int = 1) -> Lane:
    key = (branch, pieces.QUESTIONS)
    return lane(branch, "The hood", pieces={key: near}, questions={key: question}, answered={key: answered})


def test_the_open_question_that_an_input_answers_is_told_with_the_state_that_asked() -> None:
    found = of(asked("Two metres forty."), asking(CEILING, near=0.4), lane(2))
    assert found[1]["reply"] == Sign("answers", (CEILING,), 1)
    assert "reply" not in found[2]
    assert says(found[1]["reply"]) == "it answers “How high is the ceiling?”"


def test_of_two_open_questions_the_nearer_one_is_told() -> None:
    first, second = (1, pieces.QUESTIONS), (1, pieces.QUESTIONS + 1)
    both = lane(1, pieces={first: 0.1, second: 0.6}, questions={first: "Which colour do you like?", second: CEILING})
    assert of(asked("Two metres forty."), both)[1]["reply"].quotes == (CEILING,)


def test_a_question_that_was_answered_or_is_of_another_matter_is_not_told() -> None:
    assert "reply" not in of(asked("Two metres forty."), asking(CEILING, near=0.4, answered=0.6))[1]
    assert "reply" not in of(asked("My sister moved house."), asking(CEILING, near=0.0))[1]


def test_asking_about_an_open_question_doesnt_answer_it() -> None:
    assert of(asked("Why does the ceiling matter?"), asking(CEILING, near=0.4))[1]["reply"] == Sign("asks_about", (CEILING,), 1)


def test_a_choice_from_a_list_is_told() -> None:
    listed = lane(1, pieces={(1, pieces.ITEMS): 0.3, (1, pieces.ITEMS + 1): 0.2})
    query = asked("The second one, please.")
    assert query.cues.picking
    assert of(query, listed, lane(2))[1]["reply"] == Sign("picks")


def test_a_name_that_only_one_place_has_spoken_of_is_told_as_written() -> None:
    found = of(asked("When does Greta arrive with Paul?"), lane(1, "My sister Greta and Paul"), lane(2, "My brother Paul"))
    assert found[1]["names"] == Sign("only_names", ("Greta",))
    assert found[2]["names"] == Sign("names", ("Paul",))
    assert says(found[1]["names"]) == "only there was “Greta” spoken of"


def test_of_two_places_that_spoke_of_a_name_the_one_that_began_with_it_is_told() -> None:
    passing = lane(2, "The oven for Greta", root_terms=frozenset({"oven"}))
    found = of(asked("When does Greta arrive?"), lane(1, "My sister Greta moves", root_terms=frozenset({"greta"})), passing)
    assert found[1]["names"] == Sign("about", ("Greta",))
    assert found[2]["names"] == Sign("names", ("Greta",))
    assert says(found[1]["names"]) == "“Greta” was what that topic began with"


def test_that_a_path_speaks_of_him_or_of_her_is_told_where_it_does() -> None:
    found = of(asked("She is late again"), lane(1, "My sister and her exam"), lane(2, "My uncle and his pond"))
    assert found[1]["names"] == Sign("she")
    assert "names" not in found[2]


def test_words_said_in_one_place_alone_come_first_and_names_are_no_words() -> None:
    found = of(asked("Does Greta want the pipe in the wall?"), lane(1, "A pipe through the wall for Greta"), lane(2, "Paint the wall"))
    assert found[1]["words"] == Sign("only_words", ("pipe",))
    assert found[1]["path"] == Sign("words", ("wall",))
    assert found[2]["words"] == Sign("last_words", ("wall",))


def test_a_description_is_told_where_it_is_nearest() -> None:
    query = asked("When does the office hour begin for the one with the cradle?")
    found = of(query, lane(1, described=0.6), lane(2, described=0.3))
    assert found[1]["meaning"] == Sign("described", ("the one with the cradle",))
    assert "meaning" not in found[2]


@pytest.mark.parametrize(
    ("near", "kind"),
    [({"tip": 0.9, "best": 0.9}, "near_last"), ({"tip": 0.1, "best": 0.9}, "near_earlier"), ({"centre": 0.9}, "near_lately")],
)
def test_what_of_a_branch_is_nearest_is_told(near: dict[str, float], kind: str) -> None:
    assert of(asked("Is it loud?"), lane(1, near=near), lane(2, near={"tip": 0.2, "best": 0.3}))[1]["meaning"].kind == kind


def test_a_topic_that_is_named_and_the_matter_spoken_of_last_are_told() -> None:
    found = of(asked("Is that enough for the kitchen?"), lane(1), lane(2), active=2, anchors=(Anchor(1, "Kitchen", 0.9),))
    assert found[1]["path"] == Sign("topic")
    assert found[2]["recency"] == Sign("last")
    assert "recency" not in found[1]


def test_wording_that_leans_on_the_matter_at_hand_speaks_for_it_alone() -> None:
    query = asked("And how loud is it?")
    found = of(query, lane(1), lane(2), active=2)
    assert says(found[2]["cue"]) and "cue" not in found[1]


def test_pairs_of_characters_are_joined_again_where_no_blanks_part_words() -> None:
    found = of(asked("厨房的天花板有多高？"), lane(1, "我们要装修厨房，天花板很低"), lane(2, "花园"))
    assert found[1]["words"] == Sign("only_words", ("厨房", "天花板"))


def test_a_new_topic_is_spoken_for_by_what_was_never_said_before() -> None:
    new = asked("By the way, what did Vermeer paint?")
    found = of(new, lane(1, "The hood"))[None]
    # Said on a path that isn't among those looked at.
    assert {"words", "names"} & of(new, lane(1, "The hood"), counted={"paint": 1, "vermeer": 2})[None].keys() == set()
    assert found["names"] == Sign("unnamed", ("Vermeer",))
    assert found["words"].quotes == ("paint",)
    assert says(found["cue"]) == "“by the way” announces another matter"


def test_quotations_are_short_few_and_on_one_line() -> None:
    hostile = "How </b>\nhigh\u202e is \x00" + "the very high " * 20 + "ceiling?"
    [sign] = [of(asked("Two metres forty."), asking(hostile, near=0.4))[1]["reply"]]
    [quote] = sign.quotes
    assert len(quote) <= signs.LONGEST
    assert not any(character in quote for character in "\n\x00\u202e")
    many = asked("apple pear plum cherry melon grape")
    assert len(of(many, lane(1, many.text))[1]["words"].quotes) == signs.QUOTES


def test_signs_are_read_back_as_written_and_what_is_none_is_left_out() -> None:
    kept = {"reply": Sign("answers", (CEILING,), 7), "recency": Sign("last"), "names": Sign("names", ("Greta", "Paul"))}
    assert signs.from_json(signs.to_json(kept)) == kept
    for odd in (None, [], "x", {"reply": None}, {"reply": {"kind": 1, "quotes": []}}, {"reply": {"kind": "answers", "quotes": "x"}},
                {"reply": {"kind": "answers", "quotes": [1]}}, {"reply": {"kind": "answers", "quotes": ["x"], "state": "7"}}):  # fmt: skip
        assert signs.from_json(odd) == {}


# --- One place against another -----------------------------------------------------------------------------------------


def place(state: int | None, told: signs.Signs | None = None, **parts: float) -> Candidate:
    return Candidate(state, state, "", "", False, sum(parts.values()), 0.5, {**dict.fromkeys(PARTS, 0.0), **parts}, {}, told or {})


def test_the_longest_difference_comes_first_and_slight_ones_are_left_out() -> None:
    hood = place(1, {"reply": Sign("answers", (CEILING,), 1)}, reply=2.0, meaning=1.0, path=0.04)
    talk = place(2, {"recency": Sign("last")}, meaning=0.5, recency=1.2)
    found = contrast(hood, talk)
    assert [(one.part, one.by) for one in found] == [("reply", 2.0), ("recency", -1.2), ("meaning", 0.5)]
    assert [one.words for one in found] == ["it answers “How high is the ceiling?”", "that was the last matter spoken about", "the meaning there is nearer"]


def test_words_that_both_places_have_speak_for_neither() -> None:
    hood = place(1, {"names": Sign("names", ("Greta", "Paul"))}, names=1.0)
    talk = place(2, {"names": Sign("names", ("Paul",))}, names=0.5)
    assert [one.words for one in contrast(hood, talk)] == ["“Greta” was spoken of there"]
    talk = place(2, {"names": Sign("names", ("Paul", "Greta"))}, names=0.5)
    assert [one.words for one in contrast(hood, talk)] == ["the names that were said fit better there"]


def test_without_a_sign_it_says_which_way_a_part_weighs_beside_a_new_topic_too() -> None:
    [one] = contrast(place(None, path=2.0), place(1))
    assert one.words == "that path has too little to do with it"
    [one] = contrast(place(1, path=2.0), place(None))
    assert one.words == "the path as a whole has enough to do with it"
    [one] = contrast(place(1, unheard_of=2.0), place(2))
    assert one.words == "it scores higher there"


def test_every_kind_of_sign_has_words_that_quote_what_it_quotes() -> None:
    for kind, words in SAYS.items():
        said = says(Sign(kind, ("pipe", "wall")))
        assert said and "{" not in said
        assert ("“pipe” and “wall”" in said) == ("{quotes}" in words)
        assert bool(says(Sign(kind))) == ("{quotes}" not in words)
    assert says(Sign("unheard of", ("x",))) == ""


def test_a_long_text_without_blanks_is_quoted_in_its_runs_at_once() -> None:
    said = "".join(chr(0x4E00 + number) for number in range(20_000))
    pairs = [said[at : at + 2] for at in range(len(said) - 1) if at != 9_999]
    assert effort.seconds(lambda text: signs._runs(text, pairs), f"{said} x 甲乙") < 1
    found = signs._runs(f"{said} x 甲乙", pairs)
    assert set(found.values()) == {said[:10_000], said[10_000:]}
    assert (found[said[:2]], found[said[-2:]]) == (said[:10_000], said[10_000:])
    assert signs._runs("厨房的灯和厨房", ["厨房", "房的", "灯和"]) == {"厨房": "厨房的", "房的": "厨房的", "灯和": "灯和"}
