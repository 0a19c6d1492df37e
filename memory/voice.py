"""What a turn says while it is under way: each step as a message, the answer as deltas of at most fifteen flushes a second."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

from memory import messages, present
from memory.engine.forest import Context, Decision
from memory.llm.usage import Spent, merged
from memory.models import InteractionState, Turn
from memory.threads import in_thread

FLUSH_SECONDS = 1 / 15


class Voice:
    """The messages of one turn. `text` is the answer so far; `seq` the last message whose effect `text` holds."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        self.text = ""
        self.seq = turn.seq
        self.committing = False
        self.spent: Spent = {}
        self._sent = 0  # characters of `text` already passed on
        self._flushed = 0.0

    async def say(self, kind: str, **payload: Any) -> None:
        self.seq = await messages.apublish(self.turn.forest_id, self.turn.pk, kind, payload) or self.seq

    async def localized(self, decision: Decision) -> None:
        """Where the turn goes, said before the first word of the answer."""
        await self.say("turn.localized", **await in_thread(present.localized, self.turn.pk, decision))

    async def assembled(self, context: Context) -> None:
        """What the model is shown, block by block."""
        blocks = [{"name": block.name, "label": block.label, "tokens": block.tokens, "items": len(block.items)} for block in context.blocks]
        chips = await in_thread(present.chips, [asdict(block) for block in context.blocks])
        await self.say("turn.assembled", tokens=context.tokens, blocks=blocks, chips=chips)

    async def delta(self, words: str) -> None:
        """Add to the answer; passed on when the last flush is long enough ago."""
        self.text += words
        if time.monotonic() - self._flushed >= FLUSH_SECONDS:
            await self.flush()

    async def flush(self) -> None:
        if self._sent < len(self.text):
            piece, offset = self.text[self._sent :], self._sent
            self._sent, self._flushed = len(self.text), time.monotonic()
            await self.say("turn.delta", text=piece, offset=offset)

    async def broken(self, status: str, message: str, *, code: str = "", action: str = "Try again, keep the part, or drop it.") -> None:
        """End without a commit: the turn keeps its part and says what happened and what to do."""
        error = {"code": code or status, "message": message, "action": action}
        await in_thread(self._end_broken, status, error)

    def _end_broken(self, status: str, error: dict[str, str]) -> None:
        """Write the part and tell of it, unless the turn was dropped meanwhile: then nothing of it is kept anywhere."""
        with messages.held(self.turn.forest_id):
            self._write_broken(status, error)
            if Turn.objects.filter(pk=self.turn.pk).exists():
                self.seq = messages.publish(self.turn.forest_id, self.turn.pk, f"turn.{status}", {"error": error, "partial": self.text}) or self.seq

    def _write_broken(self, status: str, error: dict[str, str]) -> None:
        row = Turn.objects.filter(pk=self.turn.pk).exclude(status__in=Turn.COMMITTED)
        # Cancelled from outside: the status stands already, only the last words are missing.
        row.filter(status__in=Turn.BROKEN, generator="").update(partial=self.text, seq=self.seq)
        row.update(usage=merged(self.turn.usage, self.spent))
        row.filter(generator=self.turn.generator).update(status=status, error=error, partial=self.text, seq=self.seq, generator="", heartbeat_at=None)

    async def state_added(self, state_id: int) -> None:
        """The turn is part of memory now: the whole turn, and its state for the drawing."""
        await in_thread(self._tell_added, state_id)

    def _tell_added(self, state_id: int) -> None:
        with messages.held(self.turn.forest_id):
            if InteractionState.objects.filter(pk=state_id).exists():  # else deleted meanwhile
                answered, added = present.committed(state_id)
                for kind, payload in (("turn.answered", {"data": answered}), ("state.added", added)):
                    self.seq = messages.publish(self.turn.forest_id, self.turn.pk, kind, payload) or self.seq
