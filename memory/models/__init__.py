"""Rows: the forest (forest.py), what was learned (evidence.py), why and with what (trace.py), what a person changed (changes.py)
and had forgotten (forgetting.py), work under way (work.py, imports.py)."""

from memory.engine.forest import EvidenceKind
from memory.models.changes import Change, ChangedItem
from memory.models.evidence import Artifact, AtomicFact, Event, EvidenceRow, MutableState, Revision
from memory.models.forest import (
    Forest,
    InteractionState,
    NewVector,
    ParentChange,
    PieceVector,
    Posting,
    PostingKind,
    StateLink,
    StateVector,
    TermStat,
    Topic,
    Turn,
)
from memory.models.forgetting import Forgotten
from memory.models.imports import Import
from memory.models.scoping import unique_in_forest
from memory.models.trace import ContextTrace, RoutingDecision
from memory.models.work import ApiKey, AuditEntry, Bulk, Job, Lease, ModelCapability, Outbox, Profile

EVIDENCE_MODELS: dict[str, type[EvidenceRow]] = {
    "fact": AtomicFact,
    "artifact": Artifact,
    "event": Event,
    "mutable_state": MutableState,
}
KIND_OF: dict[type[EvidenceRow], EvidenceKind] = {model: kind for kind, model in EVIDENCE_MODELS.items()}  # type: ignore[misc]

__all__ = [
    "EVIDENCE_MODELS",
    "KIND_OF",
    "ApiKey",
    "Artifact",
    "AtomicFact",
    "AuditEntry",
    "Bulk",
    "Change",
    "ChangedItem",
    "ContextTrace",
    "Event",
    "EvidenceRow",
    "Forest",
    "Forgotten",
    "Import",
    "InteractionState",
    "Job",
    "Lease",
    "ModelCapability",
    "MutableState",
    "NewVector",
    "Outbox",
    "ParentChange",
    "PieceVector",
    "Posting",
    "PostingKind",
    "Profile",
    "Revision",
    "RoutingDecision",
    "StateLink",
    "StateVector",
    "TermStat",
    "Topic",
    "Turn",
    "unique_in_forest",
]
