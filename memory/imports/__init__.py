"""Exports of other chats as interactions with parents. Pure: files in, values out; no Django, no network, no clock.

`unpack` makes plain files of an upload, `survey` finds and orders the conversations in them, `read` reads one: so an export of any size is never in
memory whole. One file a format, each with a sample in its docstring; `tree` makes interactions of messages, the same for all.
"""

from memory.imports.reading import Found, Survey, read, survey
from memory.imports.unpacking import Limits, Refusal, is_archive, unpack
from memory.imports.values import Conversation, Given, Note

__all__ = ["Conversation", "Found", "Given", "Limits", "Note", "Refusal", "Survey", "is_archive", "read", "survey", "unpack"]
