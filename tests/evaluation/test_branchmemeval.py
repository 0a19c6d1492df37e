"""BranchMemEval rebuilt: the composition of the paper by default, splits that share nothing, the same set from the same seed, the frozen hash."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

import pytest

from memory.evaluation.answers import normalize
from memory.evaluation.benchmarks import BENCHMARKS
from memory.evaluation.benchmarks.files import WrongFileError
from memory.evaluation.branchmemeval import bank, card, dataset, validate
from memory.evaluation.branchmemeval.plan import PlanError


@pytest.fixture(scope="module")
def rows():
    return list(dataset.generate())


@pytest.fixture(scope="module")
def sessions(rows):
    return rows[1:]


@pytest.fixture(scope="module")
def fitting():
    return list(dataset.generate(split="fit"))[1:]


def turns_of(sessions):
    return [turn for session in sessions for turn in session["turns"]]


def test_the_default_is_the_papers_composition(sessions):
    turns = turns_of(sessions)
    questions = [turn["question"] for turn in turns if "question" in turn]
    assert len(sessions) == 33 and len(questions) == 100 and len(turns) - len(questions) == 1442
    assert Counter(question["dimension"] for question in questions) == {"B1": 26, "B2": 16, "B3": 24, "B4": 14, "B5": 20}
    assert Counter(session["family"] for session in sessions) == {"backjump": 8, "artifact": 8, "twin": 10, "bridge": 7}
    asked = Counter()
    for session in sessions:
        asked[session["family"]] += sum("question" in turn for turn in session["turns"])
    assert asked == {"backjump": 32, "artifact": 24, "twin": 30, "bridge": 14}
    lengths = [len(session["turns"]) for session in sessions]
    assert min(lengths) >= 42 and max(lengths) <= 52 and round(sum(lengths) / 33, 2) == 46.73
    assert {len(session["branches"]) for session in sessions} == {3, 4}


def test_other_sizes_keep_the_proportions():
    made = list(dataset.generate(seed=3, sessions=66))[1:]
    assert Counter(session["family"] for session in made) == {"backjump": 16, "artifact": 16, "twin": 20, "bridge": 14}
    assert sum(len(session["turns"]) for session in made) == 2 * 1542
    with pytest.raises(PlanError, match="at least one"):
        list(dataset.generate(sessions=0))


def test_the_testing_set_is_the_frozen_one(rows):
    assert card.of(rows) == card.frozen()
    assert card.frozen()["sha256"] in card.PAGE.read_text(encoding="utf-8")


def test_a_seed_is_a_set(sessions):
    again = list(dataset.generate())
    assert again[1:] == sessions
    assert dataset.digest(list(dataset.generate(seed=2, sessions=4))) != dataset.digest(list(dataset.generate(seed=3, sessions=4)))


@pytest.mark.parametrize("split", bank.SPLITS)
def test_whatever_the_seed_nothing_is_at_fault(split):
    for seed in range(3):
        assert validate.faults(list(dataset.generate(seed=seed, split=split))[1:]) == []


def test_the_splits_share_no_wording():
    forms = {split: {normalize(form) for form in bank.templates(bank.load(split)) if len(form.split()) > 1} for split in bank.SPLITS}
    assert not forms["fit"] & forms["test"]
    fit, test = (bank.load(split) for split in bank.SPLITS)
    assert not {domain.name for domain in fit.domains} & {domain.name for domain in test.domains}
    assert not {kind.name for domain in fit.domains for kind in domain.kinds} & {kind.name for domain in test.domains for kind in domain.kinds}
    assert not {role.role for role in fit.voice.roles} & {role.role for role in test.voice.roles}
    for shared in ("names", "banks"):
        mine, others = ({value for values in getattr(each.voice, shared).values() for value in values} for each in (fit, test))
        assert not mine & others


def test_the_splits_share_no_sentence_and_no_value(sessions, fitting):
    said, others = ({normalize(turn["user"]) for turn in turns_of(made)} for made in (sessions, fitting))
    assert not said & others
    values, strange = (
        {turn["question"][key] for turn in turns_of(made) if "question" in turn for key in ("gold", "confounder")} for made in (sessions, fitting)
    )
    assert not values & strange


def test_each_act_has_a_dozen_wordings_in_each_domain():
    for split in bank.SPLITS:
        for domain in bank.load(split).domains:
            acts = {
                "open": [form for kind in domain.kinds for form in kind.open],
                "set": [form for kind in domain.kinds for slot in kind.slots for form in slot.say],
                "change": [form for kind in domain.kinds for slot in kind.slots for form in slot.change],
                "ask": [form for kind in domain.kinds for slot in kind.slots for form in slot.ask],
                "trait": [form for trait in domain.traits for form in trait.say],
                "hint": [said for trait in domain.traits for said, _ in trait.hint],
                "answer": [form for pending in domain.pending for form in pending.answer],
                "follow": [exchange.user for exchange in domain.follows],
            }
            assert {act: len(set(forms)) for act, forms in acts.items() if len(set(forms)) < 12} == {}, (split, domain.name)
        frames = bank.load(split).voice.frames
        assert min(len(frames[act]) for act in ("pick", "ack", "role")) >= 12


def test_a_system_sees_no_label(rows, sessions, tmp_path):
    dataset.write(rows, tmp_path / "set.jsonl")
    cases = list(BENCHMARKS["branchmemeval"].load(tmp_path / "set.jsonl"))
    for case, session in zip(cases, sessions, strict=True):
        labels = re.compile("|".join([rf"\b{branch['label']}\b" for branch in session["branches"]] + [r"\bB[1-5]\b"]))
        for step in case.steps:
            given = step.given
            assert not labels.search(f"{given.id}\n{given.user}\n{given.assistant}"), given
            assert re.fullmatch(r"s\d+-\d{3}", given.id)


def test_the_clock_doesnt_tell_a_branch(sessions):
    gaps = {True: [], False: []}
    for session in sessions:
        for before, turn in pairwise(session["turns"]):
            minutes = (dataset.moment(turn) - dataset.moment(before)).total_seconds() / 60
            gaps[before["gold"]["branch"] == turn["gold"]["branch"]].append(minutes)
    stay, leave = (sorted(gaps[same])[len(gaps[same]) // 2] for same in (True, False))
    assert 0.7 < stay / leave < 1.4


def test_the_loader_gives_questions_with_their_gold(rows, sessions, tmp_path):
    dataset.write(rows, tmp_path / "set.jsonl")
    case = next(BENCHMARKS["branchmemeval"].load(tmp_path / "set.jsonl"))
    asked = [turn for turn in sessions[0]["turns"] if "question" in turn]
    questions = [step.question for step in case.steps if step.question]
    assert [question.id for question in questions] == [turn["id"] for turn in asked]
    first, turn = questions[0], asked[0]
    assert first.answers == (turn["question"]["gold"],) and first.confounders == (turn["question"]["confounder"],)
    assert first.parent == turn["gold"]["parent"] and first.asked.text == turn["user"] and first.type == turn["question"]["dimension"]
    assert case.steps[0].gold.parent is None and case.steps[0].gold.tree == case.steps[0].given.id
    second = [step.gold for case in BENCHMARKS["branchmemeval"].load(tmp_path / "set.jsonl") for step in case.steps if step.gold.others]
    assert second and all(gold.parent is not None for gold in second)


def test_another_file_is_refused(tmp_path):
    file = tmp_path / "other.jsonl"
    file.write_text('{"id": "t1", "user": "Hello"}\n', encoding="utf-8")
    with pytest.raises(WrongFileError):
        list(BENCHMARKS["branchmemeval"].load(file))
    with pytest.raises(WrongFileError):
        dataset.read(file)


def test_inner_jumps_fork_their_tree(sessions):
    """A choice made again has the list for its parent, whatever came since."""
    forks = 0
    for session in sessions:
        turns = {turn["id"]: turn for turn in session["turns"]}
        for at, turn in enumerate(session["turns"]):
            if turn["gold"]["pointer"] == "earlier option":
                tip = [other["id"] for other in session["turns"][:at] if other["gold"]["branch"] == turn["gold"]["branch"]][-1]
                forks += turn["gold"]["parent"] != tip
                assert "\n1. " in turns[turn["gold"]["parent"]]["assistant"]
    assert forks > 10


def test_most_resumptions_carry_no_cue(sessions):
    pointers = Counter(turn["gold"]["pointer"] for turn in turns_of(sessions) if turn["gold"]["pointer"] not in ("new", "aside", "go on", "question"))
    assert pointers["cue"] + pointers["name"] < 0.2 * sum(pointers.values())
