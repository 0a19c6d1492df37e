"""The report of a benchmark: Markdown tables with intervals and paired differences, and curves over budgets, into docs/benchmarks.md section by section.

Intervals are 95 % bootstrap intervals, over dialogues where there are ten or more, else over questions. A difference counts when its interval leaves out 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final

from memory.evaluation import asking, bootstrap, clusters, evidence, localization, measurements, plot, threads
from memory.evaluation.cases import Benchmark
from memory.evaluation.evidence import Found
from memory.evaluation.localization import quantile
from memory.evaluation.results import Measured, Values, load
from memory.evaluation.systems import NOTES

PAGE: Final = measurements.ROOT / "docs" / "benchmarks.md"
HEAD: Final = (
    "# Benchmarks\n\nEvery section is written by `manage.py bench … --record`, from rows of one run of one machine. What a system is stands in "
    "`memory/evaluation/systems/`. [a, b] is a 95 % interval by bootstrap.\n"
)
OURS: Final = "ours"
DRAWS: Final = 2_000
DIALOGUES: Final = 10  # from so many, they are what is drawn
SHOWN: Final = (512, 2048, 8192)  # budgets with an interval
TYPED: Final = 2048  # the budget of the table by type
BESIDE: Final = ("ours", "hybrid", "bm25")  # systems of that table
NONE: Final = "–"
Table = Sequence[Sequence[str]]
Streams = Mapping[str, Sequence[tuple[str, localization.Judged]]]  # the judged turns of each case, with their ids


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the page: its identifier, title and text, and the pictures it shows by file name."""

    name: str
    title: str
    text: str
    pictures: Mapping[str, str]


def section(out: Path, label: str, benchmark: Benchmark) -> Section:
    """The report on the rows under `out`."""
    found = load(out, label)
    there = {name: one for name, one in found.items() if one.cases}
    parts = [_conditions(benchmark, there)]
    pictures: dict[str, str] = {}
    if any(one.questions for one in there.values()):
        parts += _evidence(there, benchmark)
        if any(one.questions for one in there.values()) and (picture := _curves(there, benchmark)):
            pictures[f"{label}.svg"] = picture
            parts.append(f"![Evidence in the context by budget](benchmarks/{label}.svg)")
    if "localization" in benchmark.measures:
        parts += _localization(there, teacher=label.endswith("-given"))
        parts += _asked(there, teacher=label.endswith("-given"))
    if "links" in benchmark.measures:
        parts += _links(there)
    parts += _revision(there)
    if any(one.answers for one in there.values()):
        parts += _answers(there)
    parts += [_cost(there), _systems(found)]
    title = f"{benchmark.title}{'' if label == benchmark.name else f' ({label})'}"
    return Section(label, title, "\n\n".join(part for part in parts if part), pictures)


def record(made: Section, page: Path = PAGE) -> None:
    """Write a section into the page, and its pictures beside it."""
    for name, picture in made.pictures.items():
        (page.parent / "benchmarks").mkdir(parents=True, exist_ok=True)
        (page.parent / "benchmarks" / name).write_text(picture, encoding="utf-8")
    again = f"Again: `{measurements.running_command()}`"
    measurements.write(made.name, f"{made.text}\n\n{again}", title=made.title, page=page, head=HEAD)


# --- Around the figures -----------------------------------------------------------------------------------------------


def _conditions(benchmark: Benchmark, there: Mapping[str, Measured]) -> str:
    """Source and conditions; one line when all rows share them, else one for each that differs."""
    lines: dict[str, list[str]] = {}
    for name, one in there.items():
        stamp = one.stamp
        lines.setdefault(f"Data: {stamp['split']}. {stamp['conditions']}. Commit {stamp['commit']}, seed {stamp['seed']}; {stamp['machine']}.", []).append(name)
    told = [f"Source: {benchmark.source}."]
    if len(lines) == 1:
        told += list(lines)
    else:
        told += [f"{', '.join(names)}: {line}" for line, names in lines.items()]
    notes = list(dict.fromkeys(note for one in there.values() for row in one.cases.values() for note in row["notes"]))
    if notes:
        told.append(f"The loader left out or mended {len(notes)} things of these cases; each stands in the `case` rows.")
    return "\n\n".join(told)


def _systems(found: Mapping[str, Measured]) -> str:
    """What each system is, and what couldn't be measured."""
    lines = [f"* `{name}`: {NOTES[name]}" for name, one in found.items() if one.cases and name in NOTES]
    lines += [f"* `{name}`: not measured: {one.why}" for name, one in found.items() if one.why]
    lines += [f"* `{name}`: {len(one.failed)} cases failed and are not in the tables, so {one.failed[0]['why']}" for name, one in found.items() if one.failed]
    return "\n".join(lines)


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A Markdown table, or nothing without a line."""
    listed = [[measurements.cell(cell) for cell in line] for line in lines]
    if not listed:
        return ""
    return "\n".join(f"| {' | '.join(line)} |" for line in [list(head), ["---"] * len(head), *listed])


def figure(value: float | None, places: int = 3) -> str:
    """A figure, or a dash where nothing was to be judged."""
    return NONE if value is None or math.isnan(value) else f"{value:.{places}f}"


def _interval(values: Values, units: Mapping[str, str]) -> str:
    known = {key for key, value in values.items() if not math.isnan(value)}
    if not known:
        return NONE
    found = bootstrap.interval(values, units=_units(known, units), draws=DRAWS)
    return f"{found.mean:.3f} [{found.low:.3f}, {found.high:.3f}]"


def _units(keys: Iterable[str], units: Mapping[str, str]) -> Mapping[str, str] | None:
    """What is drawn: dialogues, where there are enough of them."""
    return units if len({units[key] for key in keys}) >= DIALOGUES else None


def _difference(ours: Values, theirs: Values, units: Mapping[str, str]) -> str:
    """Ours minus theirs over what both did, marked when it isn't chance."""
    shared = {key for key in ours.keys() & theirs.keys() if not math.isnan(ours[key]) and not math.isnan(theirs[key])}
    if not shared:
        return NONE
    pair = [{key: side[key] for key in shared} for side in (ours, theirs)]
    found = bootstrap.paired(pair[0], pair[1], units=_units(shared, units), draws=DRAWS)
    mark = " **better**" if found.better else " **worse**" if found.worse else ""
    return f"{found.mean:+.3f} [{found.low:+.3f}, {found.high:+.3f}]{mark} ({len(shared)})"


# --- Evidence ---------------------------------------------------------------------------------------------------------


def _evidence(there: Mapping[str, Measured], benchmark: Benchmark) -> list[str]:
    asked = {name: one for name, one in there.items() if one.questions}
    scores = {name: evidence.by_type(one.found(), benchmark.apart) for name, one in asked.items()}
    budgets = sorted({budget for score in scores.values() for budget in score["all"].budgets})
    shown = [budget for budget in SHOWN if budget in budgets] or budgets[-1:]

    def counted(found: Found) -> bool:
        return not found.abstain and found.type not in benchmark.apart

    measures: dict[str, Callable[[Found], float | bool | None]] = {f"R@{evidence.K}": lambda found: found.recall}
    for budget in shown:
        measures[f"raw @{plot.named(budget)}"] = partial(_raw_at, budget)
    if any(found.all_5 is not None for one in asked.values() for found in one.found()):
        measures["sessions all@5"] = lambda found: found.all_5
        measures["sessions any@1"] = lambda found: found.any_1
    values = {name: {what: one.of_questions(value, counted) for what, value in measures.items()} for name, one in asked.items()}
    units = {name: one.dialogues() for name, one in asked.items()}
    main = table(
        ["system", "questions with evidence", *measures],
        [[f"`{name}`", str(scores[name]["all"].evidenced), *(_interval(values[name][what], units[name]) for what in measures)] for name in asked],
    )
    parts = ["### Evidence, without a language model", main]
    if OURS in asked:
        rest = [name for name in asked if name != OURS]
        lines = [[f"`{name}`", *(_difference(values[OURS][what], values[name][what], units[OURS]) for what in measures)] for name in rest]
        parts += ["Ours minus theirs, question by question (of how many):", table(["against", *measures], lines)]
    parts += ["By budget; *shuffled* is the control, another question’s answer looked for in the same context:", _by_budget(scores, budgets)]
    parts += [_by_type(scores)]
    if over := [name for name in asked if any(at.over for at in scores[name]["all"].budgets.values())]:
        parts.append(f"Contexts longer than their budget: {', '.join(over)}.")
    return [part for part in parts if part]


def _raw_at(budget: int, found: Found) -> bool | None:
    return found.budgets[budget].raw if budget in found.budgets else None


def _by_budget(scores: Mapping[str, Mapping[str, evidence.Score]], budgets: Sequence[int]) -> str:
    lines = []
    for name, score in scores.items():
        for what in ("raw", "traced", "answer", "shuffled"):
            at = [getattr(score["all"].budgets[budget], what) if budget in score["all"].budgets else math.nan for budget in budgets]
            if not all(map(math.isnan, at)):
                lines.append([f"`{name}`", what, *map(figure, at)])
    return table(["system", "in the context", *map(plot.named, budgets)], lines)


def _by_type(scores: Mapping[str, Mapping[str, evidence.Score]]) -> str:
    beside = [name for name in BESIDE if name in scores] or list(scores)[:1]
    types = list(dict.fromkeys(chain.from_iterable(scores[name] for name in beside)))
    lines = []
    for type in types:
        first = scores[beside[0]].get(type)
        line = [type, str(first.evidenced if first else 0)]
        for name in beside:
            score = scores[name].get(type)
            at = score.budgets.get(TYPED) if score else None
            line += [figure(score.recall if score else None), figure(at.raw if at else None)]
        lines.append(line)
    head = ["type", "with evidence", *chain.from_iterable((f"{name} R@{evidence.K}", f"{name} raw @{plot.named(TYPED)}") for name in beside)]
    return table(head, lines)


def _curves(there: Mapping[str, Measured], benchmark: Benchmark) -> str:
    series = {}
    for name, one in there.items():
        if one.questions:
            score = evidence.by_type(one.found(), benchmark.apart)["all"]
            series[name] = [(float(budget), at.raw) for budget, at in sorted(score.budgets.items())]
    drawn = {name: points for name, points in series.items() if any(not math.isnan(share) for _, share in points)}
    return plot.curves(f"{benchmark.title}: all evidence in the context", drawn, y="share of questions") if drawn else ""


# --- Localization -----------------------------------------------------------------------------------------------------


def _localization(there: Mapping[str, Measured], *, teacher: bool) -> list[str]:
    judged = {name: one.streams(teacher=teacher) for name, one in there.items()}
    judged = {name: streams for name, streams in judged.items() if any(streams.values())}
    lines, details = [], []
    for name, streams in judged.items():
        every = [turn for stream in streams.values() for _, turn in stream]
        score = localization.summarize(every)
        units = there[name].dialogues()
        resumed = _rights(streams, lambda turn: turn.resumption)
        gold, said = there[name].partitions()
        agreed = clusters.compare(clusters.pooled(gold), clusters.pooled(said))
        lines.append(
            [
                f"`{name}`",
                str(score.turns),
                _interval(_rights(streams), units),
                f"{_interval(resumed, units)} ({score.resumptions})",
                f"{figure(score.root_precision)} / {figure(score.root_recall)} / {figure(score.root_f1)}",
                figure(score.ece),
                figure(score.at_80),
            ]
        )
        carried = localization.propagation([turn for _, turn in stream] for stream in streams.values())
        details.append(
            [
                f"`{name}`",
                *map(figure, (score.parent, score.on_path, score.top_2, agreed.one_to_one, agreed.scaled_vi, agreed.ari)),
                figure(carried, 2),
                f"{figure(score.p50, 1)} / {figure(score.p95, 1)}",
            ]
        )
    if not lines:
        return []
    previous = localization.summarize(turn for stream in next(iter(judged.values())).values() for _, turn in stream).previous_turn
    head = ["system", "turns", "branch", "resumptions (of)", "new root P / R / F1", "ECE", "at 80 % coverage"]
    parts = [
        f"### Localization, {'given prefix' if teacher else 'online replay'}",
        f"The first turn of a stream isn’t counted. Branch accuracy of “previous turn” on the same turns: {figure(previous)}.",
        table(head, lines),
        table(["system", "parent exact", "parent on path", "top 2", "1-1", "scaled VI", "ARI", "errors carried on, turns", "ms p50 / p95"], details),
    ]
    parts.append(_back_jumps(there, judged))
    gaps = {name: localization.by_gap(turn for stream in streams.values() for _, turn in stream) for name, streams in judged.items()}
    bins = list(next(iter(gaps.values())))
    parts.append(
        table(
            ["branch by turns since the tree was last active", *bins],
            [[f"`{name}`", *(f"{figure(gap[bin][0])} ({gap[bin][1]})" for bin in bins)] for name, gap in gaps.items()],
        )
    )
    if OURS in judged:
        mine, units, timeless = _rights(judged[OURS]), there[OURS].dialogues(), there[OURS].timeless()
        pairs = {name: _rights(streams) for name, streams in judged.items() if name != OURS}
        without = {key: right for key, right in mine.items() if key in timeless}
        rest = [[f"`{name}`", _difference(mine, theirs, units), _difference(without, theirs, units)] for name, theirs in pairs.items()]
        parts.append(table(["ours minus", "branch, turn by turn", "of those, turns without a temporal cue"], rest))
    return [part for part in parts if part]


def _asked(there: Mapping[str, Measured], *, teacher: bool) -> list[str]:
    """What asking the model gains and costs, on the same turns of the same forests; nothing where none was asked."""
    gains, words, by_odds = [], [], []
    for name, one in there.items():
        if (found := asking.compare(one, teacher=teacher)) is None:
            continue
        units = one.dialogues()
        told = ", ".join(f"{error} {number}" for error, number in found.failed.items()) or "0"
        for what, pair in (("all", (found.with_all, found.without_all)), ("asked", (found.with_asked, found.without_asked))):
            gains.append([f"`{name}`", what, str(len(pair[0])), *(_interval(values, units) for values in reversed(pair)), _difference(*pair, units)])
        words.append(
            [
                f"`{name}`",
                told,
                _interval(found.offered, units),
                _interval(found.own, units),
                f"{figure(found.ece_without)} / {figure(found.ece_with)}",
                f"{found.input_tokens:.0f} / {found.output_tokens:.0f}",
                f"{figure(found.seconds[0], 1)} / {figure(found.seconds[1], 1)}",
            ]
        )
        by_odds.append([f"`{name}`", *(figure(found.by_odds[odds]) for odds in asking.ODDS)])
    if not gains:
        return []
    head = ["system", "calls without an answer", "right place offered", "the model’s choice right", "ECE of turns asked, without / with"]
    return [
        "### The model asked inside the band",
        "The same turns on the same forests: where ranking alone would have put them (without), and where they were put with the model’s word (with).",
        table(["system", "turns", "number", "branch without", "branch with", "with minus without"], gains),
        table([*head, "tokens read / written a turn asked", "seconds, p50 / p95"], words),
        "Branch accuracy of the turns asked, if the model’s choice made a place so many times as likely (`engine/ask.py`, ODDS; 1: ranking alone):",
        table(["system", *map(str, asking.ODDS)], by_odds),
    ]


def _back_jumps(there: Mapping[str, Measured], judged: Mapping[str, Streams]) -> str:
    """Turns that resume an earlier state than their tree's latest; nothing where there are none and nobody made any."""
    lines = []
    for name, streams in judged.items():
        found = localization.back_jumps(turn for stream in streams.values() for _, turn in stream)
        if found.gold or found.made:
            units = there[name].dialogues()
            exact = [_rights(streams, wanted, lambda turn: turn.parent_right) for wanted in (lambda turn: turn.back_jump, lambda turn: turn.jumped)]
            lines.append([f"`{name}`", str(found.gold), _interval(exact[0], units), str(found.made), _interval(exact[1], units)])
    return table(["inner back-jumps", "by gold", "recall, parent exact", "made", "precision of those made"], lines)


def _rights(
    streams: Streams,
    wanted: Callable[[localization.Judged], bool] = lambda turn: True,
    right: Callable[[localization.Judged], bool] = lambda turn: turn.right,
) -> dict[str, float]:
    """Whether each wanted turn (case and id) is right: on the right branch, unless something else is asked for."""
    return {f"{case}\0{id}": float(right(turn)) for case, stream in streams.items() for id, turn in stream if wanted(turn)}


def _links(there: Mapping[str, Measured]) -> list[str]:
    lines = []
    for name, one in there.items():
        gold, said = one.links()
        if gold:
            score = threads.score(gold, said)
            found = score.clusters
            lines.append(
                [
                    f"`{name}`",
                    str(score.messages),
                    f"{figure(score.precision)} / {figure(score.recall)} / {figure(score.f1)}",
                    *map(figure, (found.one_to_one, found.scaled_vi, found.exact_f1)),
                ]
            )
    return ["### Links", table(["system", "messages", "link P / R / F1", "1-1", "scaled VI", "exact threads F1"], lines)] if lines else []


# --- Answers ----------------------------------------------------------------------------------------------------------


def _answers(there: Mapping[str, Measured]) -> list[str]:
    lines = []
    for name, one in there.items():
        for budget in one.budgets():
            given = [row for row in one.answers if row["kind"] == "answer" and row["budget"] == budget]
            outcomes = one.outcomes(budget)
            scores = one.scores(budget)
            units = {f"{row['case']}\0{row['question']}": row["case"] for row in given}
            share = {
                what: sum(said == what for said in outcomes.values()) / len(outcomes) if outcomes else math.nan for what in ("confusion", "ambiguous", "miss")
            }
            times = sorted(row["ms"] for row in given)
            lines.append(
                [
                    f"`{name}`",
                    plot.named(budget),
                    ", ".join(sorted({row["reader"] for row in given})),
                    str(len(given)),
                    _interval({key: float(said == "correct") for key, said in outcomes.items()}, units),
                    " / ".join(figure(value) for value in share.values()),
                    _interval(scores, units),
                    f"{sum(row['context_tokens'] for row in given) / len(given):.0f}",
                    f"{figure(quantile(times, 0.5), 0)} / {figure(quantile(times, 0.95), 0)}",
                ]
            )
    judges = sorted({f"{row['judge']} (prompts {row['prompts']})" for one in there.values() for row in one.judged})
    unanswered = sum(row["kind"] == "unanswered" for one in there.values() for row in one.answers)
    head = ["system", "budget", "reader", "answers", "right by rule", "confusion / ambiguous / miss", "right by the judge", "tokens", "ms p50 / p95"]
    return [
        "### Answers",
        "By rule: the gold as a span in the answer, and no confounder; only questions with a gold that aren’t to be abstained from."
        + (f" Judge: {', '.join(judges)}." if judges else "")
        + (f" {unanswered} calls of the reader failed." if unanswered else ""),
        table(head, lines),
        _answers_by_type(there),
    ]


def _answers_by_type(there: Mapping[str, Measured]) -> str:
    """Right, and taken for another trajectory, by type: what is right by rule."""
    types = sorted({row["type"] for one in there.values() for row in one.answers if row["kind"] == "answer"})
    lines = []
    for name, one in there.items():
        of = {f"{row['case']}\0{row['question']}": row["type"] for row in one.answers if row["kind"] == "answer"}
        for budget in one.budgets():
            outcomes = one.outcomes(budget)
            cells = []
            for type in types:
                said = [outcome for key, outcome in outcomes.items() if of[key] == type]
                cells.append(f"{said.count('correct') / len(said):.2f} / {said.count('confusion') / len(said):.2f} ({len(said)})" if said else NONE)
            lines.append([f"`{name}`", plot.named(budget), *cells])
    return table(["right / confused (answers)", "budget", *types], lines) if len(types) > 1 else ""


# --- Revision ---------------------------------------------------------------------------------------------------------


def _revision(there: Mapping[str, Measured]) -> list[str]:
    """Values that hold and are taken for outdated, outdated ones that are taken for current; only of systems that keep a status."""
    lines = []
    for name, one in there.items():
        if (found := one.revised()) is not None:
            wrong = [
                f"{figure(found.false_invalidation)} ({found.invalidated} of {found.current})",
                f"{figure(found.supersession_recall)} (of {found.outdated})",
            ]
            lines.append([f"`{name}`", *wrong, str(found.unkept)])
    if not lines:
        return []
    told = "Each value asked for, and the one it replaced, when the question comes: is it kept as current? What was never kept isn’t judged."
    return ["### Revision", told, table(["system", "false invalidations", "supersession recall", "never kept"], lines)]


# --- Cost -------------------------------------------------------------------------------------------------------------


def _cost(there: Mapping[str, Measured]) -> str:
    lines = []
    for name, one in there.items():
        states = sum(row["states"] for row in one.cases.values())
        took = sum(row["state_ms"] * row["states"] for row in one.cases.values()) / max(1, states)
        asked = sorted(row["ms"] for row in one.questions.values())
        lines.append(
            [
                f"`{name}`",
                str(len(one.cases)),
                str(states),
                figure(took, 1),
                f"{figure(quantile(asked, 0.5), 1)} / {figure(quantile(asked, 0.95), 1)}" if asked else NONE,
                f"{sum(row['seconds'] for row in one.cases.values()):.0f}",
            ]
        )
    head = ["system", "cases", "states", "ms a state, all in all", "ms a question at one budget, p50 / p95", "seconds in all"]
    told = "Vectors come from the run’s file when a text was embedded before: the first system to run pays for the others. Peers embed by themselves."
    return "\n\n".join(["### Cost", told, table(head, lines)]) if lines else ""
