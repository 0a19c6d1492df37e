"""Reply links of many-party chat: what a line says, the features and the system by hand on small logs, and that it is fitted on train files only."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from memory.engine.net import Net
from memory.evaluation import run
from memory.evaluation.benchmarks import irc
from memory.evaluation.cases import Case, Given, Gold
from memory.evaluation.disentanglement import fit
from memory.evaluation.disentanglement.features import FEATURES, LINES, LOOK, Log, features
from memory.evaluation.disentanglement.lines import NOBODY, UNSEEN, People, Words, by_server, count, read, spoken
from memory.evaluation.systems import SYSTEMS, measured, recalls, speakers
from memory.evaluation.systems.speakers import Speakers, Weights, weights
from tests.evaluation import samples

NOON = datetime(2008, 12, 11, 12, tzinfo=UTC)
WORDS = Words({"the": 1.0, "a": 1.0, "try": 3.0, "will": 2.0}, {"hello": 2.0, "try": -1.0}, 8.0)
ANA, BEN, WILL = 0, 1, 2


@pytest.fixture
def people():
    known = People()
    for line in ("<Ana> hello", "<ben_> hi", "<will> hi"):
        known.hear(line)
    return known


def line(text, people, minute=0):
    return read(text, NOON + timedelta(minutes=minute), people, WORDS)


def log_of(*lines):
    """A log of (line, the number of the message it answers or None), a minute apart; and who was heard."""
    log, people = Log(), People()
    for number, (text, answers) in enumerate(lines):
        log.add(line(text, people, number), number if answers is None else answers)
        people.hear(text)
    return log, people


# --- Lines ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "server"),
    [
        ("=== ana [n=ana@host]  has joined #ubuntu", True),
        ('=== ana [n=ana@host] has left #ubuntu ["Leaving"]', True),
        ("=== ana is now known as ben", True),
        ("=== mode/#ubuntu [+o ana] by ChanServ", True),
        ("=== ..[topic/#ubuntu:ana] : Happy Day", True),
        ("=== has joined #ubuntu", True),
        ("=== is now known as ben", True),
        ("=== ana waves", False),
        ("<ana> === ben has joined", False),
    ],
)
def test_the_server_is_told_from_people(text, server):
    assert by_server(text) is server


def test_who_speaks_and_what():
    assert spoken("<ana> hello there") == ("ana", "hello there", False)
    assert spoken("=== ana waves at ben") == ("ana", "waves at ben", True)
    assert spoken("* ana waves") == ("ana", "waves", True)
    assert spoken("hello there") == ("", "hello there", False)


@pytest.mark.parametrize(
    ("text", "addressed", "also"),
    [
        ("<ana> ben: hello", BEN, {BEN}),
        ("<ana> BEN_, hello", BEN, {BEN}),
        ("<ben_> ana hello", ANA, {ANA}),
        ("<cleo> ana, ben: hello", ANA, {ANA, BEN}),
        ("<ana> wlil: hello", WILL, {WILL}),  # mistyped
        ("<ben> wil: hello", WILL, {WILL}),  # abbreviated
        ("<ana> zoe: hello", UNSEEN, set()),
        ("<ana> will it boot", NOBODY, set()),  # a name that is a common word
        ("<ana> will: it boots", WILL, {WILL}),
        ("<ana> try: sudo", NOBODY, set()),
        ("<ana> http://example.org/ is it", NOBODY, set()),
        ("<ana> ana: talking to myself", NOBODY, set()),
    ],
)
def test_whom_a_message_begins_by_addressing(people, text, addressed, also):
    message = line(text, people)
    assert (message.addressed, message.also) == (addressed, also)


def test_names_elsewhere_count_as_much_as_they_are_rare(people):
    message = line("<cleo> ask ben, he will know", people)
    assert message.mentioned == {BEN: 1.0, WILL: pytest.approx(2 / 8)}
    assert "ben" not in message.words and message.words["will"] == 2.0 and message.words["ask"] == 8.0


def test_a_person_keeps_a_number_through_changes_of_name(people):
    people.hear("=== ben_ is now known as benjamin")
    people.hear("=== cleo [~c@host] has joined #ubuntu")
    assert [people.known(name) for name in ("benjamin", "ben|away", "Cleo", "dora")] == [BEN, BEN, 3, NOBODY]
    assert line("<dora> x", people).speaker == 4
    people.hear("<dora> x")
    assert (people.known("dora"), line("<eve> y", people).speaker) == (4, 5)


def test_of_several_that_a_short_name_may_mean_the_last_heard_is_meant(people):
    for text in ("<cleopatra> x", "<cleomenes> y"):
        people.hear(text)
    assert people.nearly("cleo") == people.known("cleomenes")
    people.hear("<cleopatra> z")
    assert people.nearly("cleo") == people.known("cleopatra")
    assert people.nearly("cl") == UNSEEN


def test_a_chat_without_names_has_no_speakers():
    people = People()
    for text in ("hello", "=== waves at you", "=== has joined #ubuntu", "<ana> said that", "and so on"):
        assert line(text, people).speaker == NOBODY
        people.hear(text)
    assert [people.known(name) for name in ("ana", "waves", "has")] == [NOBODY] * 3


def test_words_are_counted_over_files_and_names_left_out():
    one = [("<ana> try it", True), ("<ben> try ana", False), ("=== ana has joined", None), ("<ben> try", None)]
    other = [("<cleo> ana", False)]
    words = count([one, other], least=1, imagined=2)
    assert words.rarity == {"try": math.log(4 / 3), "it": math.log(4), "ana": math.log(4)}  # Ana is a name in the first file only
    rate = 1 / 3
    share = (1 + 2 * rate) / (2 + 2)
    assert words.lean["try"] == pytest.approx(math.log(share / (1 - share)) - math.log(rate / (1 - rate)))
    assert words.lean["it"] > words.lean["try"] > words.lean["ana"]
    assert words.rarest == math.log(4)


# --- Features ---------------------------------------------------------------------------------------------------------

CHAT = (
    ("<ana> how do I mount an iso?", None),  # 0
    ("=== dora [d@host] has joined #ubuntu", None),  # 1
    ("<ben> my sound is gone", None),  # 2
    ("<cleo> ana: mount -o loop", 0),  # 3
    ("<cleo> ben: which card?", 2),  # 4
    ("<ana> thanks", 3),  # 5
)
SAID = [0, 2, 3, 4, 5]  # the rows, without the server's line; a last row is the message itself


def columns_of(text, chat=CHAT):
    log, people = log_of(*chat)
    there, columns = features(log, line(text, people, len(chat)))
    assert there == [number for number, (said, _) in enumerate(chat) if not said.startswith("=== dora")]
    return {name: column.tolist() for name, column in columns.items()}


def test_who_speaks_to_whom():
    found = columns_of("<ben> cleo: an old one")
    assert found["self"] == [0, 0, 0, 0, 0, 1]
    assert found["mine"] == [0, 1, 0, 0, 0, 0]
    assert found["to_them"] == [0, 0, 1, 1, 0, 0]
    assert found["to_them_last"] == [0, 0, 0, 1, 0, 0]
    assert found["to_me"] == found["to_me_unanswered"] == found["both_ways"] == [0, 0, 0, 1, 0, 0]
    assert found["to_another"] == [1, 0, 0, 0, 1, 0]  # Ben's own isn't another's
    assert found["they_to_another"] == [0, 0, 1, 0, 0, 0]
    assert found["talks_to_me"] == [0, 0, 1, 1, 0, 0]  # Cleo talked to Ben last
    assert np.allclose(found["theirs_since"], np.log1p([1, 0, 1, 0, 0, 0]))
    assert np.allclose(found["replies"], np.log1p([1, 1, 0, 0, 0, 0]))
    assert set(found["i_address"]) == {1.0} and set(found["i_am_new"]) == {0.0}


def test_how_far_back():
    found = columns_of("<ben> cleo: an old one")
    assert np.allclose(found["back"], [math.log(5), math.log(4), math.log(3), math.log(2), 0, 0])
    assert found["back_5"] == [1, 1, 0, 0, 0, 0] and found["back_1"] == [0, 0, 0, 0, 1, 0]
    assert np.allclose(found["minutes"], [*np.log1p([6, 4, 3, 2, 1]), 0])
    assert found["soon"] == [0, 0, 0, 1, 1, 0]


def test_words_in_common():
    found = columns_of("<eve> try the iso")
    assert np.allclose(found["shared"], [math.log1p(8), 0, 0, 0, 0, 0])
    assert found["rarest"] == [8, 0, 0, 0, 0, 0] and found["most_alike"] == [1, 0, 0, 0, 0, 0]
    assert set(found["best_rarest"]) == {8.0}
    # how, do, i, mount, an, iso are rare, each 8; try and the weigh 3 and 1
    assert found["cosine"][0] == pytest.approx(64 / math.sqrt((64 + 9 + 1) * 6 * 64))
    assert found["its_question"] == [1, 0, 0, 1, 0, 0] and found["its_thanks"] == [0, 0, 0, 0, 1, 0]


def test_the_threads_so_far():
    found = columns_of("<ben> an old loop")
    assert found["starts"] == [1, 1, 0, 0, 0, 0]
    assert found["unanswered"] == [0, 0, 0, 1, 1, 0]
    assert found["thread_tip"] == [0, 0, 0, 1, 1, 0]
    assert found["thread_mine"] == found["thread_my_last"] == [0, 1, 0, 1, 0, 0]
    assert np.allclose(found["thread_size"], np.log1p([3, 2, 3, 2, 3, 0]))
    assert found["answers_me"] == [0, 0, 0, 1, 0, 0]
    both = 16 / 24  # “an” and “loop” of “an old loop” are in Ana's thread
    assert np.allclose(found["thread_cover"], [both, 0, both, 0, both, 0])


def test_other_links_make_other_threads():
    wrong = tuple((text, 2 if text.startswith("<cleo> ana") else answers) for text, answers in CHAT)
    assert columns_of("<ben> an old one", wrong)["thread_mine"] == [0, 1, 1, 1, 1, 0]


def test_there_may_be_nothing_before():
    there, columns = features(Log(), line("<ana> hello", People()))
    assert there == [] and list(columns) == list(FEATURES) and {len(column) for column in columns.values()} == {1}


def test_what_is_far_back_is_no_candidate():
    log, _ = log_of(*[(f"<ana> {number}", None) for number in range(LOOK + 5)])
    assert log.candidates() == list(range(5, LOOK + 5))
    log, _ = log_of(("<ana> hello", None), *[("=== ben has joined #ubuntu", None)] * LINES)
    assert log.candidates() == []


# --- The system -------------------------------------------------------------------------------------------------------


def linear(**plain):
    return Net.linear(FEATURES, plain)


BY_NAME = Weights(WORDS, linear(to_them_last=9, to_me=5, back=-1, self=1), linear(rarest=1, self=4), "nothing: by hand")


def given(lines):
    return [Given(f"m{number}", text, "", NOON + timedelta(minutes=number)) for number, text in enumerate(lines)]


def placed_by(system, lines):
    system.open("case", "UTC")
    found = []
    for one in given(lines):
        found.append(system.place(one))
        system.observe(one, placed=found[-1])
    return found


def test_a_chat_is_linked_by_hand():
    found = placed_by(Speakers(fitted=BY_NAME), [text for text, _ in CHAT] + ["<ben> cleo: an old one"])
    assert [one.parent for one in found] == [None, None, None, "m0", "m2", "m3", "m4"]
    assert (found[1].probability, found[1].candidates) == (1.0, ())  # the server stands alone
    first = math.exp(9 + 5 - math.log(2))  # Cleo's question: addressed, to me, two back
    rest = math.exp(1) + math.exp(0) + sum(math.exp(-math.log(back)) for back in (3, 4, 5))
    assert found[6].probability == pytest.approx(first / (first + rest))
    assert found[6].candidates == (None, "m5", "m3", "m2", "m0")


def test_a_chat_without_speakers_is_linked_by_its_words():
    found = placed_by(Speakers(fitted=BY_NAME), ["how do I mount an iso?", "my sound is gone", "the iso is gone too"])
    assert [one.parent for one in found] == [None, None, "m0"]  # “iso” and “gone” are as rare: the first of the best
    assert found[2].candidates == ("m1", None)


def test_without_speakers_times_say_nothing():
    lines = ["how do I mount an iso?", "my sound is gone", "mount the iso with -o loop", "which sound card?", "an old one", "=== has left", "thanks, it mounts"]
    found = []
    for seconds in (1, 86_400):
        system = Speakers()
        for one in given(lines):
            later = replace(one, time=NOON + seconds * (one.time - NOON))
            found.append(system.place(later))
            system.observe(later, placed=found[-1])
    assert [replace(one, ms=0.0) for one in found[: len(lines)]] == [replace(one, ms=0.0) for one in found[len(lines) :]]


def test_looking_changes_nothing_and_cases_share_nothing():
    lines = [text for text, _ in CHAT]
    system = Speakers(fitted=BY_NAME)
    before = placed_by(system, lines)
    one, other = given([*lines, "<ben> cleo: an old one", "<zoe> ben: hello"])[-2:]
    wanted = system.place(one)
    system.place(other)
    assert replace(system.place(one), ms=0.0) == replace(wanted, ms=0.0)
    assert [found.parent for found in placed_by(system, lines)] == [found.parent for found in before]


def test_it_only_links():
    assert measured("speakers", {"links"}) and not measured("speakers", {"localization", "evidence"}) and not recalls("speakers")
    assert SYSTEMS["speakers"] is Speakers


# --- The shipped weights ----------------------------------------------------------------------------------------------


def test_the_weights_say_what_they_were_fitted_on_and_were_not_changed():
    kept = json.loads(speakers.FITTED.read_text())
    assert "153 train files" in kept["fitted_on"] and "dev" not in kept["fitted_on"]
    kept["rarest"] += 1
    with pytest.raises(ValueError, match="hash"):
        Weights.from_json(kept)


def test_weights_survive_being_written():
    again = Weights.from_json(json.loads(json.dumps(weights().to_json())))
    assert again.to_json() == weights().to_json()


def test_the_shipped_weights_link_a_plain_chat():
    chat = [
        "<ana> hi, how do I mount an iso file?",
        "<ben> my sound card isn't detected, any ideas?",
        "<cleo> ana: sudo mount -o loop file.iso /mnt",
        "<dora> ben: what does lspci say?",
        "<ana> cleo: thanks, that worked",
        "<ben> dora: nothing about audio",
        "=== eve [e@host] has joined #ubuntu",
        "<eve> hello, can anyone help me with my printer?",
    ]
    found = [one.parent for one in placed_by(Speakers(), chat)]
    assert found == [None, None, "m0", "m1", "m2", "m3", None, None]


# --- Gold and fitting -------------------------------------------------------------------------------------------------


def measured_parents(case, directory):
    plan = run.Plan("irc", directory, directory / "out", ("speakers",))
    rows = run.Bench(plan, {"speakers": lambda setting: Speakers(fitted=BY_NAME)}).measure(run.Unit(case, "speakers", ("speakers",)), {})["speakers"]
    assert rows[-1]["kind"] == "case", rows
    return [(row["id"], row["parent"], row["probability"]) for row in rows if row["kind"] == "turn"]


def test_gold_changes_nothing_of_what_it_says(tmp_path):
    """Through the runner: with its gold, with everything said to begin a thread, and without any."""
    [case] = irc.load(samples.WRITERS["irc"](tmp_path))
    steps = {
        "true": case.steps,
        "wrong": tuple(replace(step, gold=Gold(None, f"tree {number}")) for number, step in enumerate(case.steps)),
        "none": tuple(replace(step, gold=None) for step in case.steps),
    }
    found = {name: measured_parents(Case(case.id, some), tmp_path) for name, some in steps.items()}
    assert found["true"] == found["wrong"] == found["none"]
    assert {parent for _, parent, _ in found["true"]} > {None}


def test_what_comes_later_changes_nothing(tmp_path):
    [case] = irc.load(samples.WRITERS["irc"](tmp_path))
    whole = measured_parents(case, tmp_path)
    assert measured_parents(replace(case, steps=case.steps[:6]), tmp_path) == whole[:6]


def talk(seed, length=60):
    """A file of a made-up log in which everybody answers whoever they name, and without a name begins a thread."""
    chance = np.random.default_rng(seed)
    lines, links, last = [], [], {}
    for number in range(length):
        name = str(chance.choice(["ana", "ben", "cleo", "dora"]))
        others = [other for other in last if other != name]
        if others and chance.random() < 0.7:
            other = str(chance.choice(others))
            lines.append(f"[12:{number:02}] <{name}> {other}: yes {number}")
            links.append((last[other], number))
        else:
            lines.append(f"[12:{number:02}] <{name}> hello everybody {number}")
            links.append((number, number))
        last[name] = number
    return "\n".join(lines) + "\n", "".join(f"{a} {b} -\n" for a, b in links)


def corpus(path, **folders):
    files = {}
    for folder, seeds in folders.items():
        for seed in seeds:
            text, links = talk(seed)
            files |= {f"{folder}/2008-12-{seed:02}.ascii.txt": text, f"{folder}/2008-12-{seed:02}.annotation.txt": links}
    return samples.write_tar(path, files)


def test_fitting_learns_whom_is_answered(tmp_path):
    cases = list(irc.load(corpus(tmp_path / "i.tar.xz", train=range(1, 7), dev=[9]), parts=("train",)))
    bare = list(irc.load(tmp_path / "i.tar.xz", parts=("train",), speakers=False))
    told = []
    fitted = fit.fit(cases, bare, "made up", told.append, steps=300)
    [unseen] = irc.load(tmp_path / "i.tar.xz", parts=("dev",))
    score = fit.score([(unseen, fit.replay(fitted, unseen))])
    assert score.f1 > 0.9
    assert any("not learnt from" in one for one in told)
    assert {"mine", "minutes"} <= set(fitted.speakers.names) and not {"mine", "minutes"} & set(fitted.text.names)


def test_the_command_reads_train_files_only(tmp_path):
    written = []
    for name, folders in (("with", {"train": [1, 2], "dev": [3], "test": [4]}), ("without", {"train": [1, 2]})):
        data = corpus(tmp_path / f"{name}.tar.xz", **folders)
        call_command("fit_speakers", str(data), "--steps", "20", "--out", str(tmp_path / f"{name}.json"))
        written.append((tmp_path / f"{name}.json").read_text())
    assert written[0] == written[1]
    assert "2 train files" in json.loads(written[0])["fitted_on"]
    with pytest.raises(CommandError, match="no pair"):
        call_command("fit_speakers", str(corpus(tmp_path / "dev.tar.xz", dev=[1, 2])), "--out", str(tmp_path / "no.json"))
    (tmp_path / "dev").mkdir()
    for kind, text in zip(("ascii", "annotation"), talk(1), strict=True):
        (tmp_path / "dev" / f"1.{kind}.txt").write_text(text)
    with pytest.raises(CommandError, match="train"):
        call_command("fit_speakers", str(tmp_path / "dev"), "--out", str(tmp_path / "no.json"))
    assert not (tmp_path / "no.json").exists()
