"""All benchmarks in one go, in three sizes: what is measured on what, with which samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from memory.evaluation import interleave
from memory.evaluation.branchmemeval import dataset
from memory.evaluation.branchmemeval import plan as planned
from memory.evaluation.run import BUDGETS, Plan
from memory.evaluation.systems import SYSTEMS, USUAL, group_of
from memory.evaluation.systems.ours import VARIANTS
from memory.evaluation.systems.peers import PEERS

SIZES: Final = {
    "smoke": "with `all`: two made-up sessions, in two minutes, without any data",
    "standard": "with `all`: stated samples, in three quarters of an hour on two cores",
    "full": "with `all`: everything, for a night",
}
Size = Literal["smoke", "standard", "full"]
# Where the data are under the directory of all of them.
LOCOMO: Final = "locomo/locomo5_dev.json.gz"
LONGMEMEVAL: Final = "longmemeval/longmemeval_s_dev.json.gz"
BEAM: Final = "beam100k"
OASST: Final = "trees/oasst/en-validation.jsonl"
CAST: Final = "trees/cast2022_dev.json.gz"
IRC: Final = "irc/train_dev.tar.xz"


@dataclass(frozen=True, slots=True)
class Streams:
    """A set of streams: of which dialogues, worded how, how many of them a stream has (from … to), and how often ten streams are dealt."""

    name: str
    kind: interleave.Kind
    file: str
    resolved: bool = False
    branches: tuple[int, int] = interleave.OPEN
    deals: int = 1


STREAMS: Final = (
    Streams("oasst", "oasst", OASST, deals=4),  # few dialogues a stream, dealt anew
    Streams("oasst-20", "oasst", OASST, branches=(20, 25)),
    Streams("cast", "cast", CAST),
    Streams("cast-resolved", "cast", CAST, resolved=True),
    Streams("longmemeval", "longmemeval", LONGMEMEVAL),
)
SMOKE_BUDGETS: Final = (512, 2048)
COSTLY: Final = (*(name for name in VARIANTS if group_of(name) == name != "ours"), *PEERS)  # a forest of their own each, or embeddings of their own
CHEAP: Final = tuple(name for name in SYSTEMS if name not in COSTLY)
GIVEN: Final = ("ours", "additive", "tfidf", "minilm")


def plans(shared: Path | None, size: Size, *, systems: Sequence[str] | None, answer: tuple[int, ...], tell: Callable[[str], None], **common: Any) -> list[Plan]:
    """The runs of a size, of the usual systems or of those named. What isn't under `shared` is left out, and told. Raises ValueError where nothing is there."""
    wanted = tuple(systems or USUAL)
    if size == "smoke":
        made = _made(common["out"], sessions=2, seed=common["seed"])
        return [Plan("branchmemeval", made, systems=wanted, split="generated", budgets=SMOKE_BUDGETS, answer=answer and SMOKE_BUDGETS[-1:], **common)]
    if shared is None or not shared.is_dir():
        raise ValueError(f"There are no data: {shared} is no directory." if shared else "Say where the data are: --shared DIR.")
    small = size == "standard"

    def plan(benchmark: str, data: Path | None, *, only: Sequence[str] = tuple(SYSTEMS), **how: Any) -> list[Plan]:
        if data is None or not data.exists():
            tell(f"{how.get('name', benchmark)}: left out, {data} isn't there")
            return []
        names = tuple(name for name in wanted if name in only)
        return [Plan(benchmark, data, systems=names, answer=answer, **{"budgets": BUDGETS, **how}, **common)] if names else []

    found: list[Plan] = []
    for of in STREAMS:
        streams = _streams(shared / of.file, common["out"] / "streams" / of.name, of, common["seed"])
        how: dict[str, Any] = {"name": f"streams-{of.name}", "split": "half 1 of 2, other dialogues than fitted on"}
        found += plan("streams", streams, **how)
        found += plan("streams", streams, only=GIVEN if small else tuple(SYSTEMS), prefix="given", **how)
    found += plan("irc", shared / IRC, split="dev", sample=3 if small else None)
    if not small:
        found += plan("irc-text", shared / IRC, split="dev")
    found += plan("branchmemeval", _made(common["out"]), split="the testing set")
    # Of the others, costly systems take a part of the cases: the same seed draws it, and differences are over the questions both have.
    for benchmark, file, questions, most, fewer in (("locomo", LOCOMO, 40, 5, 2), ("beam", BEAM, None, 4, 4), ("longmemeval", LONGMEMEVAL, None, 10, 2)):
        for only, sample in ((CHEAP, most), (COSTLY, fewer)):
            how = {"questions": questions, "sample": sample} if small else {}
            found += plan(benchmark, shared / file, only=only, split="development share", **how)
    if not found:
        raise ValueError(f"{shared} has the data of no benchmark.")
    return found


def _streams(file: Path, out: Path, of: Streams, seed: int) -> Path | None:
    """Streams of half 1 of 2, made unless they are there; None without the dialogues."""
    if not file.exists():
        return None
    if not out.is_dir():
        aside = out.with_name(f"{out.name}.aside")
        for number in range(of.deals):
            interleave.write(aside / str(number), of.kind, file, streams=10, seed=seed + number, resolved=of.resolved, branches=of.branches)
        for stream in sorted(aside.glob("*/*.jsonl")):
            stream.rename(aside / f"{stream.parent.name}-{stream.name}")
        for folder in [one for one in aside.iterdir() if one.is_dir()]:
            folder.rmdir()
        aside.rename(out)
    return out


def _made(out: Path, *, sessions: int = planned.SESSIONS, seed: int = dataset.SEED) -> Path:
    """A BranchMemEval set, made unless it is there; the testing set unless another is asked for."""
    path = out / f"branchmemeval-{sessions}-{seed}.jsonl"
    if not path.exists():
        dataset.write(list(dataset.generate(seed, sessions)), path.with_suffix(".aside"))
        path.with_suffix(".aside").rename(path)
    return path
