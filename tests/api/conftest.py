"""Signed-in callers, Inês's forest with a canary in every table, and a check of answers against their documented shapes."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from memory.llm.embed import embedder
from memory.models import Change, ChangedItem, ContextTrace, Forest, Job, ParentChange, StateLink
from tests.forests import learn, plant, say, trace, wait

CANARY = "zyzzyva7391"


class Caller(APIClient):
    """A client that speaks JSON and returns what came."""

    def __init__(self, person: Any = None, **more: Any) -> None:
        super().__init__(**more)
        if person is not None:
            self.force_login(person)

    def ask(self, method: str, path: str, body: Any = None, **more: Any) -> Any:
        return self.generic(method, f"/api/{path}", **({} if body is None else self._json(body)), **more)

    def _json(self, body: Any) -> dict[str, Any]:
        import json

        return {"data": body if isinstance(body, str | bytes) else json.dumps(body), "content_type": "application/json"}


@pytest.fixture
def as_ines(ines):
    return Caller(ines)


@pytest.fixture
def as_omar(omar):
    return Caller(omar)


@pytest.fixture
def anonymous(db):
    return Caller()


class Planted:
    """Inês's forest; every text in it holds the canary."""

    def __init__(self, ines: Any) -> None:
        here = embedder()
        self.forest = plant(ines, f"Home {CANARY}")
        Forest.objects.filter(pk=self.forest.pk).update(embedder=here.identity, dimensions=here.dimensions, weights_hash=here.weights_hash)
        self.root = say(self.forest, f"Plan {CANARY}", f"Yes {CANARY}", topic=f"Kitchen {CANARY}", words=f"plan {CANARY}")
        self.state = say(self.forest, f"Budget {CANARY}?", f"Noted {CANARY}", self.root, words=f"budget {CANARY}")
        self.later = say(self.forest, f"Tiles {CANARY}?", f"White {CANARY}", self.state, words=f"tiles {CANARY}")
        self.old = learn(self.root, f"Budget is 20,000 {CANARY}", slot="kitchen|budget", value="20000", evidence=CANARY)
        self.fact = learn(self.state, f"Budget is 21,500 {CANARY}", slot="kitchen|budget", value="21500", replaces=self.old, evidence=CANARY)
        self.record = learn(self.state, f"Visited the mill {CANARY}", "event", evidence=CANARY)
        self.turn = self.later.turn
        self.trace: ContextTrace = trace(self.later, self.root, self.fact)
        self.waiting = wait(self.forest, f"Waiting {CANARY}")
        self.broken = wait(self.forest, f"Broken {CANARY}", "interrupted", partial=f"Half {CANARY}", error={"code": "lost", "message": "m", "action": "a"})
        self.job = Job.objects.create(forest=self.forest, kind="sample", message=CANARY)
        StateLink.objects.create(forest=self.forest, state=self.later, parent=self.root, weight=0.3)
        ParentChange.objects.create(forest=self.forest, state=self.later, old_parent=self.root, new_parent=self.state, at_position=3)
        ParentChange.objects.create(forest=self.forest, state=self.state, old_parent=self.root, at_position=3, to_root=True)
        self.change = Change.objects.create(forest=self.forest, action="pin", by_user=ines, at_position=3)
        ChangedItem.objects.create(forest=self.forest, change=self.change, kind="fact", item=self.fact.pk, state=self.state)


@pytest.fixture
def planted(ines):
    return Planted(ines)
