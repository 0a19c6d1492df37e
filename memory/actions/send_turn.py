"""Receive what a person sent: checked, written down, and from then on never lost."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from memory.errors import Refused, conflict, invalid, unknown_forest, unknown_state, unknown_turn
from memory.models import Forest, InteractionState, Turn
from memory.store.write import lock


def check_text(text: str, field: str = "text", *, required: bool = True) -> str:
    """The text as it will be kept. Raises Refused when it is empty, holds NUL or is over 32 KiB of UTF-8."""
    if required and not text.strip():
        raise invalid("There is nothing in this turn.", "Write something and send it again.", {field: ["This may not be empty."]})
    if "\x00" in text:
        raise invalid("The text has a NUL character, which can't be stored.", "Remove it and send the turn again.", {field: ["No NUL characters."]})
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > settings.MAX_TURN_BYTES:
        message = f"A turn takes at most {settings.MAX_TURN_BYTES // 1024} KiB of text; this one has {size / 1024:.1f} KiB."
        raise Refused("too_large", message, "Send it in parts, or attach only what matters.", 413, {field: [message]})
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise invalid(
            "The text has half of a surrogate pair, which is no character.", "Paste it again from its source.", {field: ["Not valid Unicode."]}
        ) from None
    return text


def find_parent(forest: Forest, parent: int | None) -> InteractionState | None:
    """The state a sender named as parent; raises Refused when the forest has none with that id."""
    if parent is None:
        return None
    state = InteractionState.objects.in_forest(forest).filter(pk=parent).first()
    if state is None:
        raise unknown_state()
    return state


def find_original(forest: Forest, turn: int) -> InteractionState:
    """The state of the turn that a sender edited; that turn stays until this transaction ends (a deletion locks every turn of a forest).

    Raises Refused when the forest has no such turn, or it isn't part of memory.
    """
    original = Turn.objects.select_for_update(no_key=True).in_forest(forest).filter(pk=turn).first()
    if original is None:
        raise unknown_turn()
    state = InteractionState.objects.in_forest(forest).filter(turn=original).select_related("parent").first()
    if state is None:
        raise conflict("Only a turn that is part of memory can be edited.", "Wait for its answer, or drop it and send another.")
    return state


def send_turn(
    forest: Forest, text: str, *, client_id: str | None = None, parent: int | None = None, new_root: bool = False, edit_of: int | None = None
) -> tuple[Turn, bool]:
    """Write a turn down as received. The same `client_id` again gives the turn it gave before (False: not created).

    With `edit_of`, a turn of the forest, it goes beside that one: under the same parent, or as a root of its own. Nothing is overwritten.
    """
    if parent is not None and new_root:
        raise invalid("A turn has either a parent or a new root.", "Send one of the two.", {"new_root": ["Not together with parent."]})
    if edit_of is not None and (parent is not None or new_root):
        raise invalid("An edited turn goes beside its original.", "Send no place with it.", {"edit_of": ["Not together with parent or new_root."]})
    client_id = client_id or uuid.uuid4().hex
    known = Turn.objects.in_forest(forest).filter(client_id=client_id).first()
    if known is not None:
        return known, False
    asked = find_parent(forest, parent)
    try:
        with transaction.atomic():
            if edit_of is not None:
                lock(forest.pk)  # first, as a deletion does, or the two wait for each other
                asked = find_original(forest, edit_of).parent
                new_root = asked is None
            turn = Turn.objects.create(
                forest=forest,
                client_id=client_id,
                text=check_text(text),
                asked_parent=asked,
                asked_new_root=new_root,
                edited_from_id=edit_of,
                sent_at=timezone.now(),
            )
    except IntegrityError:  # the same client id from another tab, or the parent or forest deleted, a moment ago
        known = Turn.objects.in_forest(forest).filter(client_id=client_id).first()
        if known is None:
            raise (unknown_state() if asked else unknown_forest()) from None
        return known, False
    return turn, True
