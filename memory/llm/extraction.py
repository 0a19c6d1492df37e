"""Turns read by a model: one schema-bound call a turn, or one a part with the collision audit; either way checked by the engine.

A failed call raises (W7): the turn stays raw, its error is shown, the worker tries again. The rules don't step in silently.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Protocol, cast

from django.conf import settings

from memory.engine import commit, revise
from memory.engine.extract import check, check_facts, language
from memory.engine.extract.check_facts import Report, Turn
from memory.engine.forest import Evidence, Extraction, Interaction, Proposal
from memory.llm.prompts import extract as prompt
from memory.llm.structured import Structured
from memory.llm.usage import Usage

Mode = Literal["one-call", "separate", "rules"]
MODES: tuple[Mode, ...] = ("one-call", "separate", "rules")
COLLISION_TOKENS = 400


class Client(Protocol):
    """What is needed of `EndpointClient`."""

    def structured(self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any], *, name: str, max_tokens: int) -> Structured: ...


def mode() -> Mode:
    """settings.EXTRACTION, which the settings have checked."""
    return cast("Mode", settings.EXTRACTION)


def version(mode: Mode, model: str) -> str:
    """What a state is refined by: another mode, model, prompt or check is another version (W3)."""
    if mode == "rules":
        return commit.EXTRACTORS
    return f"{mode}:{prompt.digest()}:{check.VERSION}:{model}"[:64]


def extract(
    client: Client, model: str, mode: Mode, interaction: Interaction, path: Sequence[Interaction], known: Sequence[Evidence], *, zone: str, topic: str
) -> Extraction:
    """What one turn teaches, by a model and checked. `known` are values the turn may correct. Raises ModelError, never gives half a result."""
    if mode == "rules":
        return commit.extract(interaction, path, zone, topic)
    started = time.perf_counter()
    offered = dict(enumerate(known, 1))
    turn = check_facts.turn_of(interaction, path, zone, topic, offered)
    report = Report()
    answer, usage, repairs = _ask(client, mode, turn, path) if worth_asking(turn) else ({}, Usage(), ())
    extraction = check.checked(answer, turn, path, report)
    if mode == "separate":
        kept, more = _audit(client, extraction.proposals, offered.values(), report)
        extraction, usage = replace(extraction, proposals=kept), usage + more
    told = {
        "mode": mode,
        "model": model,
        "calls": usage.calls,
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "seconds": round(time.perf_counter() - started, 2),
        "offered": len(offered),
        **({"repairs": list(repairs)} if repairs else {}),
        **report.as_json(),
    }
    return replace(extraction, report=told)


def worth_asking(turn: Turn) -> bool:
    """Whether a model could find anything that the checks would keep: a clause that tells something, or an answer with something in it."""
    return turn.tells or len(language.said(turn.interaction.assistant).strip()) > prompt.SHORT_ANSWER


def _ask(client: Client, mode: Mode, turn: Turn, path: Sequence[Interaction]) -> tuple[dict[str, Any], Usage, tuple[str, ...]]:
    answer: dict[str, Any] = {}
    usage = Usage()
    repairs: tuple[str, ...] = ()
    for parts in _requests(mode, turn):
        messages, schema = prompt.extract_messages(turn.interaction, path, turn.offered, zone=turn.zone, topic=turn.topic, parts=parts)
        got = client.structured(messages, schema, name="turn" if len(parts) > 1 else parts[0], max_tokens=prompt.ANSWER_TOKENS)
        answer |= got.value
        usage += got.usage
        repairs += got.repairs
    return answer, usage, tuple(dict.fromkeys(repairs))


def _requests(mode: Mode, turn: Turn) -> list[tuple[prompt.Part, ...]]:
    """The parts of each call. One call always asks for all of them, so that its prefix stays the same; a call of its own is spared where nothing can be."""
    if mode == "one-call":
        return [prompt.ALL]
    told: tuple[prompt.Part, ...] = ("facts", "states", "events") if turn.tells else ()
    made: tuple[prompt.Part, ...] = ("artifacts",) if len(turn.interaction.assistant) > prompt.SHORT_ANSWER else ()
    return [(part,) for part in ("node", *told, *made)]


def _audit(client: Client, proposals: Sequence[Proposal], offered: Any, report: Report) -> tuple[tuple[Proposal, ...], Usage]:
    """Ask of each new value and the one that holds in its slot now whether both can hold; if so, the new one leaves the slot (it coexists)."""
    holding = {(item.kind, item.slot): item for item in offered if item.slot}
    pairs = [
        (place, holding[proposal.kind, proposal.slot])
        for place, proposal in enumerate(proposals)
        if proposal.asserted and (proposal.kind, proposal.slot) in holding
    ]
    pairs = [(place, old) for place, old in pairs if revise.normalize(old.value) != revise.normalize(proposals[place].value)]
    if not pairs:
        return tuple(proposals), Usage()
    messages, schema = prompt.collision_messages([(old.text, proposals[place].text) for place, old in pairs])
    got = client.structured(messages, schema, name="collision", max_tokens=COLLISION_TOKENS)
    verdicts = {row["pair_id"]: row["verdict"] for row in got.value["verdicts"]}
    for pair in set(verdicts) - set(range(1, len(pairs) + 1)):
        report.drop("verdict", "not offered")
        del verdicts[pair]
    apart = {place for number, (place, _) in enumerate(pairs, 1) if verdicts.get(number) == "INDEPENDENT"}
    report.changed["coexists"] += len(apart)
    return tuple(replace(proposal, slot="") if place in apart else proposal for place, proposal in enumerate(proposals)), got.usage
