"""Inside the low-margin band: what a language model is asked about a turn's place, and what its word is worth.

Where ranking alone is unsure, a model is offered the likeliest branches and a new root, by number. Its choice is one more piece of evidence: by Bayes' rule
the ranker's probabilities are raised where it points and lowered elsewhere, as far as such a choice can be believed (`ODDS`). So the model never decides
against all else, and what comes out is still a probability. The asking itself is elsewhere (memory/llm); nothing here knows a network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from memory.engine.forest import Candidate, Decision, Interaction, Method, Recall, Recalled
from memory.engine.localize import UNSURE, WORTH_SHOWING, place_words
from memory.engine.query import Query

RANKED: Final[tuple[Method, ...]] = ("recall", "new_root")  # decided by ranking: no cue, no person's word
BRANCHES: Final = 4  # offered at most, beside the new root
OFFERED_FROM: Final = 0.02  # the probability that a branch must have to be offered
# How many times as likely a model's choice makes a place beside each other place that was offered. Fixed, since it is another model at every installation:
# of a model that is right in four of ten such cases it takes nothing away, of one right in seven of ten it gives nearly all (docs/decisions/0017).
ODDS: Final = 4.0


@dataclass(frozen=True, slots=True)
class Option:
    """A place that is offered; `tip` None is a new root. `active`: the turn before was there."""

    tip: Interaction | None
    active: bool = False

    @property
    def state(self) -> int | None:
        return self.tip.id if self.tip else None


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: to which of `options` does `text` belong? The new root is number 0; of the branches the one used last comes last, not the likeliest:
    what the ranker thinks isn't told, and what changes least stands first."""

    text: str
    options: Sequence[Option]


def question(query: Query, decision: Decision, recall: Recall, then: Sequence[Recalled] = (), *, below: float) -> Question | None:
    """What to ask about a decision; None where there is nothing to ask: a cue or a person decided, ranking is at least `below` sure, or no branch is likely."""
    if decision.method not in RANKED or not decision.probability < below:
        return None
    known = {one.interaction.id: one.interaction for one in (*recall.recalled, *then)}
    likely = sorted(decision.candidates, key=lambda candidate: -candidate.probability)
    branches = [
        Option(tip, candidate.active)
        for candidate in likely
        if candidate.state is not None and candidate.probability >= OFFERED_FROM and (tip := recall.end(candidate.state) or known.get(candidate.state))
    ][:BRANCHES]
    if not branches:
        return None
    return Question(query.text, (Option(None), *sorted(branches, key=lambda option: option.tip.position if option.tip else 0)))


def weighed(probabilities: Sequence[float], offered: Sequence[int], chosen: int, odds: float = ODDS) -> list[float]:
    """The probabilities of places (at most 1 together; what is missing are places nobody names) once a model, offered those at the indexes `offered`, chose
    the one at the index `chosen`: by Bayes' rule, with a choice `odds` times as likely for the true place as for each other one, and any as likely as another
    where the true place wasn't offered. Raises ValueError for a choice that wasn't offered."""
    if chosen not in offered:
        raise ValueError("the choice wasn't offered")
    number = len(offered)
    wrong = 1 / (odds + number - 1)
    blind = 1 / number  # where the true place wasn't among them
    likelihood = [odds * wrong if index == chosen else wrong if index in offered else blind for index in range(len(probabilities))]
    raised = [probability * likely for probability, likely in zip(probabilities, likelihood, strict=True)]
    whole = sum(raised) + max(0.0, 1 - sum(probabilities)) * blind
    return [share / whole for share in raised]


def fold(decision: Decision, asked: Question, chosen: int, odds: float = ODDS) -> Decision:
    """The decision with the word of a model, which chose the option of that number. The likeliest other branch stays the secondary one, however sure it
    makes us. Raises ValueError for a number that wasn't offered."""
    places = [candidate.state for candidate in decision.candidates]
    if not 0 <= chosen < len(asked.options):
        raise ValueError("the choice wasn't offered")
    offered = [places.index(option.state) for option in asked.options]
    shares = weighed([candidate.probability for candidate in decision.candidates], offered, offered[chosen], odds)
    now = [replace(candidate, probability=share) for candidate, share in zip(decision.candidates, shares, strict=True)]
    ranked = sorted(now, key=lambda candidate: -candidate.probability)
    winner, others = ranked[0], ranked[1:]
    before = {candidate.state: candidate.probability for candidate in decision.candidates}
    second = next((one.state for one in others if one.state is not None and before[one.state] >= WORTH_SHOWING), None)
    return replace(
        decision,
        method="asked",
        parent=winner.state,
        root=winner.root,
        probability=winner.probability,
        margin=winner.probability - (others[0].probability if others else 0.0),
        unsure=winner.probability < UNSURE,
        why=_why(decision, now[offered[chosen]], winner, others, second),
        candidates=ranked,
        second=second,
    )


def _why(decision: Decision, choice: Candidate, winner: Candidate, others: Sequence[Candidate], second: int | None) -> str:
    """That a model was asked, and what it chose over what."""
    before = {candidate.state: candidate.probability for candidate in decision.candidates}
    goes = "Begins" if winner.state is None else "Continues" if winner.active else "Returns to"
    rival = others[0] if others else None
    if choice.state != winner.state:
        rival = None
        told = (
            f"Ranking alone was unsure, so the language model was asked. It chose {place_words(choice)}, but what is known speaks too much against that"
            f" ({_percent(before[choice.state])} before it was asked)."
        )
    elif winner.state == decision.parent:
        over = f" over {_end(place_words(rival))}" if rival else "."
        told = f"Ranking alone was unsure ({_percent(before[winner.state])}), so the language model was asked: it chose the same{over}"
    else:
        rival = next(candidate for candidate in decision.candidates if candidate.state == decision.parent)
        told = f"The language model was asked and chose it over {place_words(rival)}, to which ranking alone would have given {_percent(rival.probability)}."
    shown = next((candidate for candidate in others if candidate.state == second), None) if second is not None else None
    called = "That path" if shown is not None and rival is not None and shown.state == rival.state else f"The path of {place_words(shown)}" if shown else ""
    also = f" {called} was close, so the model that answers was also shown it." if shown else ""
    return f"{goes} {_end(place_words(winner))} {told}{also}"


def _end(words: str) -> str:
    return words if words.endswith(("…", ".")) else f"{words}."


def _percent(probability: float) -> str:
    return f"{round(100 * probability)} %"
