"""Systems under test: ours on the code path of chat, its ablations, baselines, routers, peers, and the vectors they share."""

from __future__ import annotations

import json
import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import numpy as np
import pytest
from django.core.management import call_command

from memory.engine.feature_names import FEATURES, OF_BRANCHES
from memory.evaluation.cases import Given
from memory.evaluation.systems import NOTES, SYSTEMS, group_of, measured, ours, peers, routers, viewed
from memory.evaluation.systems.base import Placed
from memory.evaluation.systems.cache import CachedEmbedder
from memory.evaluation.systems.peers import NotMeasuredError
from memory.evaluation.systems.plain import Bm25, Dense, Full, Hybrid, Recent
from memory.evaluation.systems.reading import Readable, Setting
from memory.evaluation.systems.routers import Fitted, MiniLm, Previous, Tfidf
from memory.llm.calibration import calibration
from memory.llm.embed import embedder, embedding_with
from memory.llm.tokens import count
from memory.models import Forest, InteractionState
from tests.evaluation.histories import START, asked, given


class Letters:
    """An embedder without a model: how often each letter occurs. Counts how many texts it embedded."""

    identity, dimensions, weights_hash = "letters", 26, "none"

    def __init__(self):
        self.embedded = 0

    def embed(self, texts):
        self.embedded += len(texts)
        vectors = np.array([[text.lower().count(chr(97 + letter)) for letter in range(26)] for text in texts], dtype=np.float32) + 1e-3
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture
def setting(tmp_path):
    return Setting(CachedEmbedder(embedder(), tmp_path / "vectors.sqlite"), run="test")


def fill(system, *, placing=True):
    """The whole history, kept where the system puts it."""
    system.open("history", "Europe/Berlin")
    for one in given():
        placed = system.place(one) if placing and system.routes else None
        system.observe(one, placed=placed)
    system.settle()
    return system


# --- Ours -------------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_question_gets_what_manage_recall_shows(setting, capsys):
    system = fill(SYSTEMS["ours"](setting))
    question = asked("What does the fitter of the kitchen charge?")
    recalled = system.recall(question, [300, 2048])
    for budget in (300, 2048):
        call_command("recall", system.forest.name, question.text, "--budget", str(budget), "--time", question.time.isoformat(), "--json")
        answer = json.loads(capsys.readouterr().out)
        context = recalled.contexts[budget]
        assert answer["localization"]["parent"] == recalled.placed.parent
        assert answer["localization"]["probability"] == pytest.approx(recalled.placed.probability, abs=1e-4)
        items = [item for block in answer["blocks"] for item in block["items"]]
        assert [(item["text"], item["sources"]) for item in items] == [(item.text, list(item.sources)) for item in context.items]
        assert answer["tokens"] == context.tokens == count(context.text) <= budget
    assert recalled.contexts[2048].tokens > recalled.contexts[300].tokens
    assert "k2" in recalled.ranked[:2]
    assert set(recalled.ranked) <= {one.id for one in given()}


@pytest.mark.django_db
def test_an_interaction_is_kept_where_it_was_placed(setting):
    system = SYSTEMS["ours"](setting)
    system.open("history", "UTC")
    parents = {}
    for one in given():
        placed = system.place(one)
        system.observe(one, placed=placed)
        parents[one.id] = placed.parent
    kept = {state.turn.client_id: state.parent and state.parent.turn.client_id for state in InteractionState.objects.in_forest(system.forest)}
    assert kept == parents
    assert not InteractionState.objects.in_forest(system.forest).filter(refined_at__isnull=True).exists()


@pytest.mark.django_db
def test_a_given_place_wins_over_the_own_one(setting):
    system = SYSTEMS["ours"](setting)
    system.open("history", "UTC")
    first, second, third = given()[:3]
    system.observe(first, placed=None)
    own = system.place(second).parent
    other = None if own == "k1" else "k1"
    system.observe(second, placed=Placed(other, 1.0, 0.0))
    system.observe(third, placed=Placed("k1", 1.0, 0.0))
    kept = {state.turn.client_id: state.parent and state.parent.turn.client_id for state in InteractionState.objects.in_forest(system.forest)}
    assert kept == {"k1": None, "k2": other, "d1": "k1"}


@pytest.mark.django_db
def test_a_value_holds_until_a_later_one_takes_its_slot(setting):
    system = SYSTEMS["ours"](setting)
    system.open("budget", "Europe/Berlin")
    for number, said in enumerate(["Our kitchen budget is €18,000.", "Our kitchen budget is €21,500 now."]):
        one = Given(f"b{number}", said, "Noted.", START + timedelta(days=number))
        system.observe(one, placed=system.place(one))
        if number == 0:
            assert system.holds("b0", "€18,000") is True
    assert [system.holds("b0", "€18,000"), system.holds("b1", "€21,500"), system.holds("b1", "€9")] == [False, True, None]
    view = viewed(system, "without-facts")
    assert view.holds("b1", "€21,500") is None
    system.close()


@pytest.mark.django_db
def test_forests_go_with_their_case_unless_kept(setting):
    system = fill(SYSTEMS["ours"](setting), placing=False)
    assert Forest.objects.get().owner.username == "measurements"
    system.close()
    assert not Forest.objects.exists()
    keeping = SYSTEMS["ours"](Setting(setting.embedder, keep=True))
    keeping.open("a", "UTC")
    keeping.close()
    assert Forest.objects.count() == 1
    keeping.open("a", "UTC")  # one left by a run that was killed is begun anew
    keeping.observe(given()[0], placed=None)
    assert [forest.last_position for forest in Forest.objects.all()] == [1]


@pytest.mark.django_db
def test_what_a_turn_cannot_take_is_cut(setting, settings):
    settings.MAX_TURN_BYTES = 40
    system = SYSTEMS["ours"](setting)
    system.open("long", "UTC")
    system.observe(Given("a", "ä" * 100 + "\x00", "", START), placed=None)
    system.observe(Given("b", "", "Only the assistant spoke.", START), placed=system.place(Given("b", "", "Only the assistant spoke.", START)))
    assert list(InteractionState.objects.order_by("pk").values_list("user_text", flat=True)) == ["ä" * 20, "Only the assistant spoke."]


@pytest.mark.django_db
def test_remembered_vectors_change_nothing(tmp_path):
    question = asked("Which oil does the worktop get?")
    found = []
    for _ in range(2):
        cached = CachedEmbedder(embedder(), tmp_path / "vectors.sqlite")
        system = fill(SYSTEMS["ours"](Setting(cached)))
        found.append(system.recall(question, [1024]))
        system.close()
    assert cached.made == 0 < cached.asked
    plain = fill(SYSTEMS["ours"](Setting(embedder())))
    found.append(plain.recall(question, [1024]))
    assert [one.contexts for one in found] == [found[0].contexts] * 3
    assert [one.ranked for one in found] == [found[0].ranked] * 3
    assert [(one.placed.parent, one.placed.probability) for one in found] == [(found[0].placed.parent, found[0].placed.probability)] * 3


# --- Ablations --------------------------------------------------------------------------------------------------------


def blocks(recalled, budget=4096):
    text = recalled.contexts[budget].text
    return {line[1:-1] for line in text.splitlines() if line.startswith("<") and not line.startswith("</")}


@pytest.mark.django_db
def test_ablations_leave_out_what_they_say(setting):
    base = fill(SYSTEMS["ours"](setting))
    question = asked("Which oil is my favorite, what is my dog called, and what was the second one on your list?")
    whole = blocks(base.recall(question, [4096]))
    assert {"DataContext", "StateEvidence", "ArtifactEvidence"} <= whole
    shown = {name: blocks(viewed(base, name).recall(question, [4096])) for name in ours.READ_ONLY}
    assert "DataContext" not in shown["without-facts"] and "StateEvidence" in shown["without-facts"]
    assert shown["without-structured-extraction"].isdisjoint({"StateEvidence", "ArtifactEvidence", "EventEvidence"})
    assert "DataContext" in shown["without-structured-extraction"]
    assert shown["without-structured-evidence"] <= {"ConversationHistory", "SupplementalEvidence", "DataContext"}
    assert Forest.objects.count() == 1  # they read the same one
    assert blocks(base.recall(question, [4096])) == whole


@pytest.mark.django_db
def test_without_localization_there_is_no_path(setting):
    system = fill(SYSTEMS["without-localization"](setting))
    assert not system.routes
    assert set(InteractionState.objects.in_forest(system.forest).values_list("depth", flat=True)) == {0}
    recalled = system.recall(asked("What does the fitter of the kitchen charge?"), [4096])
    assert recalled.placed is None
    assert "ConversationHistory" not in blocks(recalled)
    assert "k2" in recalled.ranked[:2]


@pytest.mark.django_db
def test_without_keyword_and_entity_routing_words_bring_nothing(setting):
    seen = []

    def decide(query, found, then):
        seen.append({channel for one in found.recalled for channel in one.channels})
        return ours.without_words(query, found, then)

    system = fill(ours.Ours(setting, "x", ours.Variant(decide=decide, asking=ours.VARIANTS["without-keyword-entity"].asking)))
    system.recall(asked("What does Olga charge?"), [512])
    assert set.union(*seen) == {"semantic", "topic"} or set.union(*seen) == {"semantic"}
    left_out = [place for place, name in enumerate(FEATURES) if name in OF_BRANCHES and FEATURES[name] in ("words", "names")]
    assert calibration().places.plain[left_out].any()  # there is something to leave out


@pytest.mark.django_db
def test_the_additive_localizer_decides_in_place_of_ours(setting):
    system = fill(SYSTEMS["additive"](setting))
    forest = system.forest
    rankers = set(InteractionState.objects.in_forest(forest).values_list("turn__decision__ranker", flat=True))
    assert rankers == {"additive-ce"}
    never = fill(ours.Ours(setting, "y", ours.Variant(decide=ours.additive_at(99.0))))
    assert InteractionState.objects.in_forest(never.forest).filter(parent__isnull=False).count() == 0


def test_every_ablation_of_the_paper_has_a_row_and_says_what_it_is():
    assert set(ours.READ_ONLY) | {"without-localization", "without-keyword-entity"} <= set(SYSTEMS)
    assert len([name for name in SYSTEMS if name.startswith("without-")]) == 5
    assert set(NOTES) == set(SYSTEMS) - {"ours"}
    assert group_of("without-facts") == "ours" and group_of("additive") == "additive"
    assert measured("tfidf", {"localization"}) and not measured("tfidf", {"evidence"})
    assert measured("bm25", {"evidence"}) and not measured("bm25", {"links"})
    assert not measured("without-facts", {"localization"}) and measured("without-localization", {"answers"})


# --- Baselines --------------------------------------------------------------------------------------------------------


def test_words_find_the_turn_that_has_them():
    system = fill(Bm25(Setting(Letters())))
    assert system.recall(asked("Where was the thorn?"), [256]).ranked[0] == "d2"
    assert system.recall(asked("How much do I pay Olga?"), [256]).ranked[0] == "k2"


def test_meaning_finds_the_nearest_and_embeds_once():
    letters = Letters()
    system = fill(Dense(Setting(letters)))
    [first] = system.recall(asked(f"{given()[4].user}\n{given()[4].assistant}"), [256]).ranked[:1]
    assert first == "d2"
    assert letters.embedded == len(given()) + 1


def test_the_hybrid_is_the_weighted_sum_of_both_standardized():
    system = fill(Hybrid(Setting(Letters())))
    question = asked("Which oil does the worktop need?")
    dense, words = system.cosines(question.text), system.words.bm25(question.text)
    fused = 0.6 * (dense - dense.mean()) / dense.std() + 0.4 * (words - words.mean()) / words.std()
    names = [one.id for one in given()]
    assert list(system.recall(question, [256]).ranked) == [names[index] for index in np.argsort(-fused)]


@pytest.mark.parametrize("kind", [Bm25, Dense, Hybrid, Recent, Full])
def test_no_context_is_longer_than_its_budget(kind):
    system = fill(kind(Setting(Letters())))
    for budget, context in system.recall(asked("Which oil does the oak worktop need?"), [16, 64, 100, 256, 4096]).contexts.items():
        assert context.tokens == count(context.text) <= budget
        assert all(item.text in context.text and len(item.sources) == 1 for item in context.items)
    assert {source for item in context.items for source in item.sources} == {one.id for one in given()}


def test_a_turn_that_does_not_fit_is_skipped_but_full_context_ends_there():
    long = Given("long", "word " * 300, "", START.replace(year=2027))
    for kind, expected in ((Recent, {"d3", "k4", "d2"}), (Full, set())):
        system = fill(kind(Setting(Letters())))
        system.observe(long, placed=None)
        context = system.recall(asked("Anything?"), [130]).contexts[130]
        assert {source for item in context.items for source in item.sources} & {"long", "d3", "k4", "d2"} == expected


def test_the_recent_ones_are_the_last_ten():
    system = Recent(Setting(Letters()))
    system.open("many", "UTC")
    for number in range(30):
        system.observe(Given(f"t{number}", f"Remark {number}", "", START), placed=None)
    assert system.recall(asked("?"), [8192]).ranked == tuple(f"t{number}" for number in range(29, 19, -1))


def test_what_a_baseline_shows_can_be_answered_from():
    system = fill(Bm25(Setting(Letters())))
    system.recall(asked("Where was the thorn?"), [512])
    assert isinstance(system, Readable)
    reading = system.reading(512)
    assert "thorn" in "".join(item.text for block in reading.context.blocks for item in block.items)
    assert {state.user for state, _ in reading.pool.turns} <= {one.user for one in given()}
    with pytest.raises(KeyError):
        system.reading(999)


# --- Routers ----------------------------------------------------------------------------------------------------------


def route(router):
    router.open("x", "UTC")
    parents = []
    for one in given():
        placed = router.place(one)
        router.observe(one, placed=placed)
        parents.append(placed.parent)
    return parents


def test_the_previous_turn_is_always_continued():
    assert route(Previous(Setting(Letters()))) == [None, "k1", "k2", "d1", "k3", "d2", "k4"]


def test_the_likest_path_is_resumed_at_its_end_or_a_new_one_begun():
    router = Tfidf(Setting(Letters()), Fitted(0.0, 0.05))
    assert route(router)[3:6] == ["k1", "d1", "k3"]
    assert route(Tfidf(Setting(Letters()), Fitted(0.0, 0.02)))[3:6] == ["k2", "d1", "k3"]
    assert route(Tfidf(Setting(Letters()), Fitted(0.0, 1.1))) == [None] * 7
    assert route(MiniLm(Setting(Letters()), Fitted(0.0, -1.1)))[1:] != [None] * 6


def test_the_active_path_has_its_bonus():
    assert route(Tfidf(Setting(Letters()), Fitted(5.0, 0.5))) == [None, "k1", "k2", "d1", "k3", "d2", "k4"]


def test_a_fork_is_a_path_of_its_own():
    router = Tfidf(Setting(Letters()), Fitted(0.0, 0.0))
    router.open("x", "UTC")
    one, two, three, *_ = given()
    router.observe(one, placed=Placed(None, 1, 0))
    router.observe(two, placed=Placed("k1", 1, 0))
    router.observe(three, placed=Placed("k1", 1, 0))
    assert [path.tip for path in router.paths] == ["k2", "d1"]
    placed = router.place(Given("q", "The vet looked at the limping dog", "", START))
    assert placed.parent == "d1" and set(placed.candidates) == {"k2", None}


def test_fitted_numbers_say_what_they_were_fitted_on(tmp_path):
    kept = json.loads(routers.FITTED.read_text())
    assert "half 0 of 2" in kept["fitted_on"]
    assert {"tfidf", "minilm", "additive"} <= set(kept["routers"])
    found = routers.best(lambda numbers: numbers.threshold - numbers.bonus, (0.0, 0.1), (0.2, 0.4))
    assert found == (Fitted(0.0, 0.4), 0.4)
    routers.keep({"tfidf": found}, "these", tmp_path / "routers.json")
    assert json.loads((tmp_path / "routers.json").read_text())["routers"]["tfidf"]["threshold"] == 0.4


# --- Vectors ----------------------------------------------------------------------------------------------------------


def test_vectors_are_kept_by_text_and_embedder(tmp_path):
    letters = Letters()
    first = CachedEmbedder(letters, tmp_path / "v.sqlite")
    made = first.embed(["an oak", "a worktop", "an oak"])
    assert letters.embedded == 2 and np.array_equal(made[0], made[2])
    again = CachedEmbedder(letters, tmp_path / "v.sqlite")
    assert np.array_equal(again.embed(["an oak", "a worktop", "an oak"]), made)
    assert letters.embedded == 2
    assert again.embed([]).shape == (0, 26)
    other = Letters()
    other.weights_hash = "others"
    CachedEmbedder(other, tmp_path / "v.sqlite").embed(["an oak"])
    assert other.embedded == 1


def test_many_may_open_a_new_file_at_the_same_time(tmp_path):
    together = Barrier(4)

    def opened(file):
        together.wait(timeout=30)
        cached = CachedEmbedder(Letters(), file)
        cached.embed(["an oak"])
        cached.close()

    with ThreadPoolExecutor(4) as pool:
        for round_ in range(40):
            assert list(pool.map(opened, [tmp_path / f"{round_}.sqlite"] * 4)) == [None] * 4


def test_they_are_exactly_those_of_the_embedder(tmp_path):
    texts = ["We plan a new kitchen.", "日本語のテキスト", "x" * 5000, ""]
    cached = CachedEmbedder(embedder(), tmp_path / "v.sqlite")
    plain = embedder().embed(texts)
    assert np.array_equal(cached.embed(texts), plain)
    assert np.array_equal(cached.embed(texts), plain)


def test_an_injected_embedder_holds_only_inside():
    letters, usual = Letters(), embedder()
    with embedding_with(letters):
        assert embedder() is letters
    assert embedder() is usual


# --- Peers ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", peers.PEERS)
def test_a_peer_that_is_not_installed_says_how_to_get_it(name, tmp_path):
    with pytest.raises(NotMeasuredError, match="make peers"):
        SYSTEMS[name](Setting(Letters(), peers=tmp_path / "bin" / "python")).open("x", "UTC")


STAND_IN = f"""#!{sys.executable}
import json, sys
kept = []
for line in sys.stdin:
    asked = json.loads(line)
    answer = {{}}
    if asked["do"] == "open":
        kept = []
    elif asked["do"] == "observe":
        kept.append(asked["id"])
        if asked["user"] == "die":
            sys.exit(1)
        if asked["user"] == "fail":
            answer = {{"error": "ValueError: no"}}
    elif asked["do"] == "recall":
        answer = {{"ids": ["strange", *kept][: asked["limit"]]}}
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def peer(tmp_path):
    """A peer whose process is a stand-in."""
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text(STAND_IN)
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "lib" / "python3" / "site-packages" / "mem0").mkdir(parents=True)
    system = SYSTEMS["mem0"](Setting(Letters(), peers=python))
    yield system
    if system.process.process is not None:
        system.process.process.kill()


def test_a_peer_ranks_and_we_fill(peer):
    fill(peer)
    recalled = peer.recall(asked("Anything?"), [4096])
    assert recalled.ranked == tuple(one.id for one in given())
    assert len(recalled.contexts[4096].items) == len(given())
    peer.open("next", "UTC")
    assert peer.recall(asked("Anything?"), [4096]).ranked == ()


@pytest.mark.parametrize(("said", "why"), [("fail", "ValueError: no"), ("die", "ended while asked")])
def test_a_peer_that_fails_says_so(peer, said, why):
    peer.open("x", "UTC")
    with pytest.raises(NotMeasuredError, match=why):
        peer.observe(Given("a", said, "", START), placed=None)
