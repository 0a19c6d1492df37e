"""What is refused, said so that a person knows what to do next. Every edge (REST, socket, admin, commands) shows the same words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Fields = Mapping[str, Sequence[str]]


class Refused(Exception):  # noqa: N818 - what happened, in one word
    """A request that can't be done: a stable code, plain words, the next step, the HTTP status and, for validation, the fields."""

    def __init__(self, code: str, message: str, action: str, status: int, fields: Fields | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.action, self.status, self.fields = code, message, action, status, fields

    def as_dict(self) -> dict[str, object]:
        """`{"code", "message", "action"}`, with `fields` only for validation."""
        answer: dict[str, object] = {"code": self.code, "message": self.message, "action": self.action}
        if self.fields:
            answer["fields"] = {name: list(problems) for name, problems in self.fields.items()}
        return answer


def invalid(message: str, action: str = "Correct the request and send it again.", fields: Fields | None = None) -> Refused:
    return Refused("invalid", message, action, 400, fields)


def not_signed_in() -> Refused:
    return Refused("not_signed_in", "You are not signed in.", "Sign in, or send a valid key in the Authorization header.", 401)


def forbidden(message: str, action: str) -> Refused:
    return Refused("forbidden", message, action, 403)


def not_found(message: str = "There is nothing here.", action: str = "Check the address.") -> Refused:
    return Refused("not_found", message, action, 404)


def unknown_forest() -> Refused:
    return Refused("unknown_forest", "This forest doesn't exist.", "Choose one of your forests.", 404)


def unknown_turn() -> Refused:
    return Refused("unknown_turn", "This turn doesn't exist.", "Reload the conversation.", 404)


def unknown_state() -> Refused:
    return Refused("unknown_state", "This state doesn't exist.", "Reload the forest.", 404)


def unknown_item() -> Refused:
    return Refused("unknown_item", "This item doesn't exist.", "Reload the evidence.", 404)


def conflict(message: str, action: str = "Reload and try again.") -> Refused:
    return Refused("conflict", message, action, 409)


def too_large(message: str, action: str = "Send less at once.") -> Refused:
    return Refused("too_large", message, action, 413)


def too_many_requests(seconds: float | None = None) -> Refused:
    wait = f"Wait {seconds:.0f} seconds and try again." if seconds else "Wait a moment and try again."
    return Refused("too_many_requests", "Too many requests.", wait, 429)


def unavailable(message: str = "A part of the server isn't reachable.", action: str = "Try again in a moment.") -> Refused:
    return Refused("unavailable", message, action, 503)
