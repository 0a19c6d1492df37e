"""Rows: the forest (forest.py), what was learned (evidence.py), why and with what (trace.py), what was forgotten, work under way (work.py, imports.py)."""

from memory.models.evidence import Artifact, AtomicFact, Event, EvidenceRow, MutableState, Revision
from memory.models.forest import Forest, InteractionState, NewVector, ParentChange, Posting, PostingKind, StateLink, StateVector, TermStat, Topic, Turn
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

__all__ = [
    "EVIDENCE_MODELS",
    "ApiKey",
    "Artifact",
    "AtomicFact",
    "AuditEntry",
    "Bulk",
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
