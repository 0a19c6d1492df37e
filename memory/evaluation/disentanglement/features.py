"""What the ranker of many-party chat looks at: of a message and each one before that it may answer, and of the message itself.

Who speaks to whom, what is asked and answered, how long ago, rare words in common, and the threads as they were linked so far.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memory.evaluation.disentanglement.lines import NOBODY, OF_MESSAGE, UNSEEN, Message

LINES: Final = 100  # looked back, as published systems do
LOOK: Final = 60  # of these, messages that somebody said
RARE: Final = 6.5  # a word that one message of 665 has

Column = NDArray[np.float64]


@dataclass
class Log:
    """A chat as observed and linked so far. links: what each message answers, itself where it begins a thread or where the server speaks."""

    messages: list[Message] = field(default_factory=list)
    links: list[int] = field(default_factory=list)
    threads: list[int] = field(default_factory=list)
    words: dict[int, dict[str, float]] = field(default_factory=dict)

    def add(self, message: Message, link: int) -> None:
        number = len(self.messages)
        self.messages.append(message)
        self.links.append(link)
        thread = self.threads[link] if link < number else number
        self.threads.append(thread)
        self.words.setdefault(thread, {}).update(message.words)

    def candidates(self) -> list[int]:
        """The messages that the next one may answer, in their order."""
        first = max(0, len(self.messages) - LINES)
        return [number for number in range(first, len(self.messages)) if not self.messages[number].server][-LOOK:]


def features(log: Log, message: Message) -> tuple[list[int], dict[str, Column]]:
    """Of the next message: what it may answer, and each feature as a column over these; the last row is the message itself."""
    there = log.candidates()
    window = Window(log, there, message)
    pairs = window.pairs()
    columns = {name: np.append(column, 0.0) for name, column in pairs.items()}
    columns["self"] = np.append(np.zeros(len(there)), 1.0)
    for name, value in window.of_message(pairs).items():
        columns[name] = np.full(len(there) + 1, value)
    return there, columns


def rows(columns: Mapping[str, Column], names: Sequence[str]) -> Column:
    """Rows of these features, (messages, names)."""
    return np.stack([columns[name] for name in names], axis=1)


class Window:
    """The messages before, as arrays, in the order of the log; `later[a, b]`: b comes after a."""

    def __init__(self, log: Log, there: Sequence[int], message: Message) -> None:
        self.log, self.message, self.there = log, message, there
        self.before = [log.messages[number] for number in there]
        self.count = len(there)
        self.number = np.array(there, dtype=np.int64)
        self.speaker = np.array([one.speaker for one in self.before], dtype=np.int64)
        self.addressed = np.array([one.addressed for one in self.before], dtype=np.int64)
        self.later = np.triu(np.ones((self.count, self.count), dtype=bool), 1)
        self.free = message.addressed == NOBODY  # nobody is addressed
        me = message.speaker
        self.mine = (self.speaker == me) & (self.speaker != NOBODY)
        self.to_me = self._each(me >= 0 and me in one.also for one in self.before)
        self.to_them = self._each(one.speaker in message.also for one in self.before)
        self.same = (self.speaker[:, None] == self.speaker) & (self.speaker != NOBODY) & self.later  # b is by the speaker of a, later
        self.reply = (self.speaker[:, None] == self.addressed) & (self.speaker != NOBODY)[:, None] & self.later  # b begins by addressing the speaker of a
        self.by_last = ~self.same.any(axis=1)  # the last of whoever said it
        self.mine_after = _after(self.mine)

    @staticmethod
    def _each(truths: Iterable[bool]) -> NDArray[np.bool_]:
        return np.array(list(truths), dtype=bool)

    def pairs(self) -> dict[str, Column]:
        """What is looked at of each message before."""
        people = {**self.by_whom(), **self.to_whom(), **self.to_whom_before(), **self.talks()}
        return {**self.near(), **people, **self.alike(), **self.linked(), **self.of_candidates()}

    def near(self) -> dict[str, Column]:
        """How far back, in messages and in minutes."""
        back = np.arange(self.count, 0, -1)
        minutes = self.message.minute - np.array([one.minute for one in self.before])
        return {
            "back": np.log(back),
            "back_1": _is(back == 1),
            "back_2": _is(back == 2),
            "back_3": _is(back == 3),
            "back_5": _is((back > 3) & (back <= 5)),
            "back_10": _is((back > 5) & (back <= 10)),
            "back_20": _is((back > 10) & (back <= 20)),
            "far": _is(back > 30),
            "minutes": np.log1p(np.maximum(minutes, 0.0)),
            "at_once": _is(minutes < 1),
            "soon": _is(minutes <= 2),
            "late": _is(minutes > 10),
            "others_back": np.log1p(_after(~self.mine)),
        }

    def by_whom(self) -> dict[str, Column]:
        """Who said those before."""
        return {
            "mine": _is(self.mine),
            "my_last": _is(self.mine & self.by_last),
            "my_last_at_once": _is(self.mine & self.by_last & (_after(~self.mine) == 0)),
            "their_last": _is(self.by_last & ~self.mine),
            "mine_since": np.log1p(self.mine_after),
            "none_of_mine_since": _is(self.mine_after == 0),
            "theirs_since": np.log1p(self.same.sum(axis=1)),
        }

    def to_whom(self) -> dict[str, Column]:
        """Whom this message addresses and names."""
        me = self.message
        named = np.array([me.mentioned.get(one.speaker, 0.0) for one in self.before])
        return {
            "to_them": _is(self.to_them),
            "to_them_last": _is(self.to_them & self.by_last),
            "first_to": _is((self.speaker == me.addressed) & (self.speaker >= 0)),
            "named": named,
            "named_last": named * self.by_last,
            "to_another": _is(np.full(self.count, not self.free) & ~self.to_them & ~self.mine),
        }

    def to_whom_before(self) -> dict[str, Column]:
        """Whom those before address and name, beside whom this one does."""
        me, to_anybody, to_the_same = self.message, self.addressed != NOBODY, self.addressed == self.message.addressed
        return {
            "to_me": _is(self.to_me),
            "to_me_last": _is(self.to_me & (_after(self.to_me) == 0)),
            "to_me_unanswered": _is(self.to_me & (self.mine_after == 0)),
            "names_me": np.array([one.mentioned.get(me.speaker, 0.0) for one in self.before]),
            "they_to_another": _is(to_anybody & ~self.to_me),
            "they_to_nobody": _is(~to_anybody),
            "both_ways": _is(self.to_me & self.to_them),
            "mine_same_to": _is(self.mine & to_the_same & (not self.free)),
            "mine_other_to": _is(self.mine & ~to_the_same & (not self.free) & to_anybody),
            "mine_was_to": _is(self.mine & self.free & to_anybody),
            "both_to": _is(~self.mine & to_the_same & (not self.free)),
        }

    def talks(self) -> dict[str, Column]:
        """Who has been talking with whom."""
        me = self.message
        i_told = {person for one, own in zip(self.before, self.mine, strict=True) if own for person in one.also}
        told_me = {one.speaker for one, to_me in zip(self.before, self.to_me, strict=True) if to_me}
        i_told_last = next((one.addressed for one, own in zip(self.before[::-1], self.mine[::-1], strict=True) if own and one.addressed != NOBODY), NOBODY)
        told_me_last = next((one.speaker for one, to_me in zip(self.before[::-1], self.to_me[::-1], strict=True) if to_me), NOBODY)
        talks_to = {one.speaker: one.addressed for one in self.before if one.addressed != NOBODY}  # the last they addressed
        return {
            "replies": np.log1p(self.reply.sum(axis=1)),
            "i_replied": _is((self.reply & self.mine).any(axis=1)),
            "told_me_since": _is((self.same & self.to_me).any(axis=1)),
            "i_told": _is(self._each(one.speaker in i_told for one in self.before)),
            "told_me": _is(self._each(one.speaker in told_me for one in self.before)),
            "i_told_last": _is((self.speaker == i_told_last) & (self.speaker >= 0)),
            "i_told_last_free": _is((self.speaker == i_told_last) & (self.speaker >= 0) & self.free),
            "told_me_last": _is((self.speaker == told_me_last) & (self.speaker >= 0)),
            "talks_to_me": _is(self._each(talks_to.get(one.speaker, NOBODY) == me.speaker >= 0 for one in self.before)),
            "talks_to_whom_i_talk": _is(self._each(talks_to.get(one.speaker, NOBODY) == me.addressed >= 0 for one in self.before)),
            "they_are_whom_mine_names": _is(self._each(me.addressed >= 0 and me.addressed in one.also for one in self.before)),
            "anew": _is(self.by_last & (self.addressed == NOBODY) & ~self.mine),
        }

    def alike(self) -> dict[str, Column]:
        """Words in common, by rarity."""
        mine = self.message.words
        total = sum(weight**2 for weight in mine.values())
        shared = [[mine[word] for word in mine.keys() & one.words.keys()] for one in self.before]
        sums = np.array([sum(weights) for weights in shared])
        squares = np.array([sum(weight**2 for weight in weights) for weights in shared])
        lengths = np.array([sum(weight**2 for weight in one.words.values()) for one in self.before])
        rarest = np.array([max(weights, default=0.0) for weights in shared])
        cosine = squares / np.sqrt(np.maximum(lengths * total, 1e-9))
        return {
            "shared": np.log1p(sums),
            "cosine": cosine,
            "rarest": rarest,
            "rare": _is(rarest > RARE),
            "most_alike": _is((cosine == cosine.max(initial=0.0)) & (cosine > 0)),
        }

    def linked(self) -> dict[str, Column]:
        """What the links so far say."""
        log, me = self.log, self.message
        threads = np.array([log.threads[number] for number in self.there], dtype=np.int64)
        links = np.array([log.links[number] for number in self.there], dtype=np.int64)
        answers = (links == self.number[:, None]) & self.later
        fellows = threads[:, None] == threads
        together = fellows & self.later
        my_thread = next((thread for thread, mine in zip(threads[::-1], self.mine[::-1], strict=True) if mine), -1)
        parents = [log.messages[link].speaker if link != number else NOBODY for number, link in zip(self.there, links.tolist(), strict=True)]
        covered = self._covered(threads.tolist())
        return {
            "starts": _is(links == self.number),
            "answers": np.log1p(answers.sum(axis=1)),
            "unanswered": _is(~answers.any(axis=1)),
            "i_answered": _is((answers & self.mine).any(axis=1)),
            "they_went_on": _is((answers & self.same).any(axis=1)),
            "answers_me": _is(self._each(parent == me.speaker >= 0 for parent in parents) & ~self.mine),
            "answers_whom_i_address": _is(self._each(parent == me.addressed >= 0 for parent in parents)),
            "answers_itself": _is(np.array(parents) == self.speaker),
            "thread_since": np.log1p(together.sum(axis=1)),
            "thread_tip": _is(~together.any(axis=1)),
            "thread_mine": _is((fellows & self.mine).any(axis=1)),
            "thread_theirs": _is((fellows & self.to_them).any(axis=1)),
            "thread_my_last": _is(threads == my_thread),
            "thread_my_last_tip": _is((threads == my_thread) & ~together.any(axis=1)),
            "thread_cover": covered,
            "thread_best": _is((covered == covered.max(initial=0.0)) & (covered > 0)),
            "thread_size": np.log1p(fellows.sum(axis=1)),
        }

    def _covered(self, threads: Sequence[int]) -> Column:
        """How much of this message's words, by rarity, the thread of each has already said."""
        words = self.message.words
        total = max(sum(words.values()), 1e-9)
        cover = {thread: sum(weight for word, weight in words.items() if word in self.log.words[thread]) / total for thread in set(threads)}
        return np.array([cover[thread] for thread in threads])

    def of_candidates(self) -> dict[str, Column]:
        """What kind of message each is."""
        marks = np.stack([one.marks for one in self.before]) if self.before else np.zeros((0, len(OF_MESSAGE)))
        return {f"its_{name}": marks[:, at] for at, name in enumerate(OF_MESSAGE)}

    def of_message(self, pairs: Mapping[str, Column]) -> dict[str, float]:
        """The same for every candidate: what makes a start likely, and what the hidden layer sets against the others."""
        me = self.message
        last = self.mine_after[self.mine]
        ago = [me.minute - one.minute for one, own in zip(self.before, self.mine, strict=True) if own]
        span = me.minute - self.before[0].minute if self.before else 0.0
        spoke = {one.speaker for one in self.before}
        return {
            **{f"my_{name}": float(value) for name, value in zip(OF_MESSAGE, me.marks, strict=True)},
            "i_address": float(me.addressed != NOBODY),
            "i_address_unseen": float(me.addressed == UNSEEN),
            "i_address_silent": float(me.addressed >= 0 and me.addressed not in spoke),
            "i_name": max(me.mentioned.values(), default=0.0),
            "i_am_new": float(not len(last)),
            "i_spoke": math.log1p(min(ago, default=120.0)),
            "i_said": math.log1p(len(last)),
            "since_mine": math.log1p(float(np.argmax(self.mine[::-1])) if self.mine.any() else LINES),
            "i_am_addressed": float((self.to_me & (self.mine_after == 0)).any()),
            "pace": math.log1p(self.count / (span + 1.0)),
            "best_cosine": float(pairs["cosine"].max(initial=0.0)),
            "best_rarest": float(pairs["rarest"].max(initial=0.0)),
            "best_cover": float(pairs["thread_cover"].max(initial=0.0)),
            "year": me.minute / 525_960,
        }


def _is(truth: NDArray[np.bool_]) -> Column:
    return truth.astype(np.float64)


def _after(truth: NDArray[np.bool_]) -> Column:
    """How many are true behind each."""
    return (truth.sum() - np.cumsum(truth)).astype(np.float64)


# The names of all features, in their order.
FEATURES: Final = tuple(features(Log(), Message(0.0, NOBODY, False, NOBODY, frozenset(), {}, {}, np.zeros(len(OF_MESSAGE))))[1])
# … and of those that look at no clock.
TIMELESS: Final = tuple(name for name in FEATURES if name not in {"minutes", "at_once", "soon", "late", "i_spoke", "pace", "year"})
