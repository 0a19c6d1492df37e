"""What the rest of ArborWeb knows of a language model: it answers in pieces, and it reads what a turn teaches."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Protocol

from memory.engine.ask import Question
from memory.engine.forest import Context, Decision, Evidence, Extraction, Interaction, Pool
from memory.engine.query import Query
from memory.llm import endpoints
from memory.llm.endpoints import Endpoint

Message = Mapping[str, str]


class ModelError(RuntimeError):
    """The model could not answer. `code` is stable, `action` says what a person can do; neither holds a key or a memory (M8)."""

    def __init__(self, code: str, message: str, action: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.action = action


class IncompleteAnswerError(ModelError):
    """The stream broke or ended without saying it was finished: what came so far is no whole answer (M2)."""


class LanguageModel(Protocol):
    """One interface for the offline engine and an endpoint; `name` is shown to people and kept with the turn."""

    @property
    def name(self) -> str: ...

    def stream_answer(
        self, messages: Sequence[Message], context: Context, query: Query, decision: Decision, pool: Pool, *, now: datetime, zone: str
    ) -> AsyncIterator[str]:
        """Pieces of the answer, none empty; their concatenation is the answer. Raises ModelError, IncompleteAnswerError when it broke midway."""
        ...

    def extract(self, interaction: Interaction, path: Sequence[Interaction], *, zone: str, topic: str, known: Sequence[Evidence] = ()) -> Extraction:
        """What one committed interaction teaches (paper §3.4); `path` runs from its root to its parent, `known` are values it may correct.

        Never half a result: raises ModelError (W7).
        """
        ...

    @property
    def chooses(self) -> bool:
        """Whether it can be asked where a turn goes."""
        ...

    def choose(self, asked: Question, *, seconds: float) -> int:
        """The number of the option that the text belongs to, one of those offered, after `seconds` at most. Blocks; raises ModelError, also for an answer
        that isn't one of them (W2)."""
        ...

    @property
    def wants_known(self) -> bool:
        """Whether `extract` makes use of `known`: looking them up costs a query."""
        ...

    def context_length(self) -> int | None:
        """How many tokens it reads and writes at most, None where that isn't known or has no bound. Blocks."""
        ...

    @property
    def extractors(self) -> str:
        """The version of what `extract` does: a state refined by another one may be refined again (W3)."""
        ...


@lru_cache(maxsize=16)
def _model(answers: Endpoint | None, extracts: Endpoint | None) -> LanguageModel:
    if answers is None:
        from memory.llm.offline import OfflineModel

        return OfflineModel()
    from memory.llm.client import EndpointClient
    from memory.llm.endpoint import EndpointModel

    reads = extracts or answers
    return EndpointModel(EndpointClient(answers), EndpointClient(reads, stage="extract"), EndpointClient(reads, stage="route"))


def get_model(chosen: str = "") -> LanguageModel:
    """The model behind this installation: at the endpoint of the settings or the page (there the `chosen` one, if any), else the offline engine."""
    return _model(endpoints.answering(chosen), endpoints.extracting())
