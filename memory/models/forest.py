"""The forest `F_t` (paper §3.1): turns, interaction states, their edges, topics and indexes."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from pgvector.django import HalfVectorField

from memory.models.scoping import InForest, OwnedQuerySet, unique_in_forest

VECTOR_DIMENSIONS = 384  # of the local embedder; an endpoint's may differ, and a forest pins its own


class Forest(models.Model):
    """One person's memory on one subject of life: many trees, one timeline."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="forests")
    name = models.CharField(max_length=120)
    time_zone = models.CharField(max_length=64, default="UTC")
    # Vectors of two embedders can't be compared: what a forest was built with is pinned, a mismatch is refused.
    embedder = models.CharField(max_length=200)
    dimensions = models.PositiveIntegerField(default=VECTOR_DIMENSIONS)
    weights_hash = models.CharField(max_length=64)
    active_state = models.ForeignKey("memory.InteractionState", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    # Counts every structural change; a writer that read an older version looks again.
    version = models.PositiveBigIntegerField(default=0)
    # Global position of the newest state, and total indexed terms (BM25's average length).
    last_position = models.PositiveBigIntegerField(default=0)
    indexed_states = models.PositiveBigIntegerField(default=0)
    indexed_terms = models.PositiveBigIntegerField(default=0)
    sample = models.BooleanField(default=False)
    answer_model = models.CharField(max_length=200, blank=True, help_text="The model that answers in it; empty = the site's.")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = OwnedQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="forest_owner_name")]
        ordering = ["id"]

    def __str__(self) -> str:
        return f"forest {self.pk}"


class Origin(models.TextChoices):
    CHAT = "chat", "chat"
    OBSERVED = "observed", "observed"
    IMPORTED = "imported", "imported"


class Turn(InForest):
    """What a person sent, from the moment it arrived; it becomes an interaction state only complete, or kept by its owner.

    At the commit the text moves to the state (`text` and `partial` are emptied): nothing is written twice.
    """

    class Status(models.TextChoices):
        RECEIVED = "received", "received"
        QUEUED = "queued", "queued"
        LOCALIZED = "localized", "localized"
        ANSWERING = "answering", "answering"
        ANSWERED = "answered", "answered"
        REFINED = "refined", "refined"
        INTERRUPTED = "interrupted", "interrupted"
        FAILED = "failed", "failed"
        CANCELLED = "cancelled", "cancelled"

    WAITING = (Status.RECEIVED, Status.QUEUED)
    BROKEN = (Status.INTERRUPTED, Status.FAILED, Status.CANCELLED)
    COMMITTED = (Status.ANSWERED, Status.REFINED)

    client_id = models.CharField(max_length=200)
    origin = models.CharField(max_length=10, choices=Origin.choices, default=Origin.CHAT)
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.RECEIVED)
    text = models.TextField(blank=True)
    partial = models.TextField(blank=True)
    # Where the sender said it goes: under `asked_parent`, to a new root, or nowhere said (it finds its own place).
    asked_parent = models.ForeignKey("memory.InteractionState", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    asked_new_root = models.BooleanField(default=False)
    # The turn whose text was edited or asked again to make this one: its sibling in the forest.
    edited_from = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="edits")
    sent_at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True, blank=True)
    seq = models.PositiveIntegerField(default=0, help_text="The last message of the turn whose effect this row holds.")
    # Who generates it now (empty: nobody), and its last sign of life (S2).
    generator = models.CharField(max_length=100, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    attempt = models.PositiveIntegerField(default=0)
    error = models.JSONField(null=True, blank=True)
    answered_by = models.CharField(max_length=200, blank=True, help_text="The model that answered; empty for a given interaction.")
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    timings = models.JSONField(default=dict, blank=True)
    usage = models.JSONField(default=dict, blank=True, help_text="Tokens and cost of each model call's stage.")

    class Meta:
        constraints = [
            unique_in_forest("turn"),
            models.UniqueConstraint(fields=["forest", "client_id"], name="turn_client_id"),
            # One generating turn a forest, held by the database itself.
            models.UniqueConstraint(fields=["forest"], condition=~models.Q(generator=""), name="turn_one_generating"),
        ]
        indexes = [
            models.Index(fields=["forest", "status"], name="turn_forest_status"),
            models.Index(fields=["heartbeat_at"], condition=~models.Q(generator=""), name="turn_heartbeat"),
        ]
        ordering = ["id"]


class InteractionState(InForest):
    """One completed user-assistant interaction, a node of the forest (paper §3.1)."""

    class Trust(models.TextChoices):
        OWNER = "owner", "said by the owner"
        IMPORTED = "imported", "imported"

    turn = models.OneToOneField(Turn, on_delete=models.CASCADE, related_name="state")
    position = models.PositiveBigIntegerField(help_text="Place on the forest's timeline, from 1.")
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.RESTRICT, related_name="children")
    # Ids, not relations: a root is its own root, which a constraint would check before the row is there.
    root_id = models.BigIntegerField(help_text="The root of its tree; itself for a root.")
    branch_id = models.BigIntegerField(help_text="The state that opened its branch: a root, or a later child of a forked state.")
    depth = models.PositiveIntegerField(default=0)
    time = models.DateTimeField()
    user_text = models.TextField(blank=True)
    assistant_text = models.TextField(blank=True)
    node_summary = models.TextField(blank=True)
    path_summary = models.TextField(blank=True)
    entities = ArrayField(models.TextField(), default=list, blank=True)
    keywords = ArrayField(models.TextField(), default=list, blank=True)
    tokens = models.PositiveIntegerField(default=0, help_text="Exact o200k tokens of both texts.")
    length = models.PositiveIntegerField(default=0, help_text="Indexed terms (BM25).")
    origin = models.CharField(max_length=10, choices=Origin.choices, default=Origin.CHAT)
    trust = models.CharField(max_length=10, choices=Trust.choices, default=Trust.OWNER)
    tells = models.BooleanField(default=False, help_text="Its user text tells something, rather than asking for it.")
    refined_at = models.DateTimeField(null=True, blank=True)
    refined_by = models.CharField(max_length=64, blank=True, help_text="Version of the extractors that refined it.")
    refine_error = models.JSONField(null=True, blank=True)
    extraction_report = models.JSONField(default=dict, blank=True, help_text="How it was read: kept, dropped by reason, calls, tokens; no content.")
    # When a move makes it read its path anew and it teaches the same again, here or back where it was, the rows are the same ones to whatever names them.
    taught = models.JSONField(default=dict, blank=True, editable=False, help_text="Kind → keyed digest of what was read → the id its row had; no content.")

    class Meta:
        constraints = [
            unique_in_forest("state", beside=["root_id", "position"]),
            models.UniqueConstraint(fields=["forest", "position"], name="state_position"),
        ]
        indexes = [
            models.Index(fields=["forest", "root_id", "position"], name="state_tree"),
            models.Index(fields=["forest", "branch_id", "position"], name="state_branch"),
            models.Index(fields=["forest", "time"], name="state_time"),
            models.Index(fields=["forest", "origin", "position"], condition=models.Q(refined_at__isnull=True), name="state_unrefined"),
        ]
        ordering = ["position"]


class ParentChange(InForest):
    """A move of a state, with the position at which it was made, so that time travel replays it."""

    state = models.ForeignKey(InteractionState, on_delete=models.CASCADE, related_name="parent_changes")
    old_parent = models.ForeignKey(InteractionState, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    new_parent = models.ForeignKey(InteractionState, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    at_position = models.PositiveBigIntegerField()
    by_user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    # What it was part of, and what putting it back needs. A root's parent is null, as is one that was deleted since: hence the two flags.
    change = models.ForeignKey("memory.Change", null=True, blank=True, on_delete=models.CASCADE, related_name="moves")
    from_root = models.BooleanField(default=False)
    to_root = models.BooleanField(default=False)
    order = models.PositiveIntegerField(null=True, blank=True, help_text="The place of its tree in the order of planting, when a root moved.")
    method = models.CharField(max_length=12, blank=True, help_text="How the turn had been placed before.")
    unsure = models.BooleanField(default=False)

    class Meta:
        constraints = [unique_in_forest("parent_change")]


class StateLink(InForest):
    """A secondary parent: the other branch that an unsure or two-sided turn also resumes."""

    state = models.ForeignKey(InteractionState, on_delete=models.CASCADE, related_name="links")
    parent = models.ForeignKey(InteractionState, on_delete=models.CASCADE, related_name="+")
    weight = models.FloatField(help_text="Probability that this is the parent, 0 to 1.")

    class Meta:
        constraints = [unique_in_forest("state_link"), models.UniqueConstraint(fields=["state", "parent"], name="state_link_pair")]


class Topic(InForest):
    """The topic key of a tree, the anchor by which an input may name it (ARBORMEM §2)."""

    root = models.OneToOneField(InteractionState, on_delete=models.CASCADE, related_name="topic")
    key = models.CharField(max_length=200)
    variants = ArrayField(models.CharField(max_length=200), default=list, blank=True)
    stems = ArrayField(models.CharField(max_length=100), default=list, blank=True)
    order = models.PositiveIntegerField(default=0, help_text="Order of planting, from 0: colour and leaf follow from it.")
    # When one of them goes elsewhere, the tree is told anew.
    told_by = ArrayField(models.BigIntegerField(), default=list, blank=True, help_text="Ids of the states that gave the key or a variant; none: the root.")

    class Meta:
        constraints = [unique_in_forest("topic")]
        ordering = ["order"]


class StateVector(InForest):
    """One embedding, in a narrow table of half floats: beside the text an exact scan costs ten times as much (docs/decisions)."""

    class Kind(models.TextChoices):
        STATE = "state", "the turn as said"
        BRANCH = "branch", "its branch-aware text"
        TOPIC = "topic", "a tree's topic key (its root's row)"
        FACT = "fact", "an atomic fact"
        ARTIFACT = "artifact", "an artifact"
        EVENT = "event", "an event"
        MUTABLE_STATE = "mutable_state", "a mutable state"

    state = models.ForeignKey(InteractionState, on_delete=models.CASCADE, related_name="vectors")
    kind = models.CharField(max_length=13, choices=Kind.choices)
    item = models.BigIntegerField(default=0, help_text="Id of the fact or record; else 0.")
    vector = HalfVectorField(help_text="As long as the forest's pin says.")

    class Meta:
        constraints = [unique_in_forest("vector"), models.UniqueConstraint(fields=["state", "kind", "item"], name="vector_of")]
        indexes = [models.Index(fields=["forest", "kind"], name="vector_forest_kind")]


class PieceVector(InForest):
    """The embedding of a piece of a turn: the user's words, a sentence, an open question, a list item (engine/pieces.py).

    Apart from the others: they are many, looked up by state alone, and would lie between the rows that are scanned. Derived of the texts: a state without
    any is ranked by its turn's vector, until the worker has made them.
    """

    state = models.ForeignKey(InteractionState, on_delete=models.CASCADE, related_name="pieces")
    number = models.PositiveSmallIntegerField()
    vector = HalfVectorField()

    class Meta:
        constraints = [unique_in_forest("piece"), models.UniqueConstraint(fields=["state", "number"], name="piece_of")]


class NewVector(InForest):
    """The vector that will take another's place when a forest moves to a new embedder: kept beside until every one is there (R4)."""

    replaces = models.OneToOneField(StateVector, on_delete=models.CASCADE, related_name="new")
    pin = models.CharField(max_length=64, help_text="The weights hash of the new embedder.")
    vector = HalfVectorField()

    class Meta:
        constraints = [unique_in_forest("new_vector")]


class PostingKind(models.IntegerChoices):
    TERM = 0, "term"
    ENTITY = 1, "entity"
    TOPIC = 2, "topic stem (points at the root)"


class Posting(InForest):
    """Term → state, with its count and the state's length: BM25 by index alone."""

    kind = models.PositiveSmallIntegerField(choices=PostingKind.choices)
    term = models.CharField(max_length=100)
    state = models.ForeignKey(InteractionState, on_delete=models.CASCADE, related_name="postings")
    count = models.PositiveIntegerField()
    length = models.PositiveIntegerField()

    class Meta:
        constraints = [
            unique_in_forest("posting"),
            models.UniqueConstraint(fields=["forest", "kind", "term", "state"], include=["count", "length"], name="posting_term"),
        ]


class TermStat(InForest):
    """In how many states of the forest a term occurs: rare terms are looked up, common ones aren't (docs/decisions)."""

    kind = models.PositiveSmallIntegerField(choices=PostingKind.choices)
    term = models.CharField(max_length=100)
    states = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [unique_in_forest("term_stat"), models.UniqueConstraint(fields=["forest", "kind", "term"], name="term_stat_term")]
