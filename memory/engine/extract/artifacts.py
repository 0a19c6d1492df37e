"""What the assistant made and a person may come back to: list items with their ordinals, steps, links, code, recipes, titles (ARBORMEM §4).

From the assistant's text only. The paper takes at most 8 artifacts; here a list may have 20 items, since rules cost nothing by the item and
"the tenth one" must be found; everything that isn't a list item keeps to 8.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memory.engine import terms
from memory.engine.extract import tags
from memory.engine.forest import Interaction, Proposal
from memory.engine.text import excerpt, one_line, sentences

MAX_ITEMS = 20
MAX_OTHERS = 8
ITEM_WIDTH, EVIDENCE_WIDTH, TOPIC_WIDTH = 120, 80, 120

_NUMBERED = re.compile(r"^\s{0,6}(?:\*\*)?(?P<n>\d{1,3})[.)](?:\*\*)?\s+(?P<item>\S.*)$")
_BULLET = re.compile(r"^\s{0,3}[-*•+–]\s+(?P<item>\S.*)$")
_HEADING = re.compile(r"^\s*(?:#{1,6}\s+(?P<hash>.+?)\s*#*|\*\*(?P<bold>[^*]{2,80}?):?\*\*:?|(?P<colon>[^\n]{2,160}):)\s*$")
_LINK = re.compile(r"\[(?P<label>[^\]\n]{1,100})\]\((?P<target>https?://[^\s)]+)\)|(?P<bare>https?://[^\s<>()\[\]\"']+[\w/])")
_CODE = re.compile(r"```(?P<language>[\w+-]*)\n(?P<body>.*?)```", re.DOTALL)
_TITLE = re.compile(r"\b(?:titles?|call(?:ed)? it|headline|name it)\b[^“\"\n]{0,40}[“\"](?P<title>[^”\"\n]{3,100})[”\"]", re.IGNORECASE)
_MARKS = re.compile(r"\*\*|__|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)|`")
_WANTS_ADVICE = re.compile(r"\b(?:recommend|suggest|which|ideas?|where (?:can|could|should)|any good|what should)\b", re.IGNORECASE)
_WANTS_STEPS = re.compile(r"\b(?:how (?:do|to|can|should)|steps?|instructions|guide|walk me through)\b", re.IGNORECASE)
_STEPS = re.compile(r"\b(?:steps?|instructions|method|procedure|directions)\b", re.IGNORECASE)
_INGREDIENTS = re.compile(r"\b(?:ingredients|recipe)\b", re.IGNORECASE)
DRAFT = re.compile(r"\b(?:write|draft|compose|rewrite|email|e-mail|letter|poem|abstract|paragraph|caption|speech|toast|story|message)\b", re.IGNORECASE)
_ASKS_FOR = re.compile(
    r"\b(?:list|give|name|suggest|recommend|write|draft|make|need|propose|outline|what|which|show)\b(?:\s+(?:me|us|a|an|the|"
    r"some|out|up))*\s+(?P<what>[^.?!,;\n]{3,80})",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Entry:
    topic: str
    ordinal: int | None
    item: str
    numbered: bool


def propose(interaction: Interaction) -> list[Proposal]:
    """The artifacts of one answer, in order of appearance: first lists, then everything else."""
    answer, asked = interaction.assistant, interaction.user
    items = [_proposal(entry.item, _kind(entry, asked), entry.topic or _asked_for(asked), entry.ordinal) for entry in _items(_CODE.sub("\n", answer))]
    others = [proposal for proposal in (*_links(answer), *_made_texts(answer, asked)) if all(proposal.text != item.text for item in items)]
    return items[:MAX_ITEMS] + others[:MAX_OTHERS]


def _items(answer: str) -> Iterator[_Entry]:
    """The items of every list of at least two, numbered as written or counted from 1; nested bullets belong to their item."""
    topic, last_line = "", ""
    run: list[_Entry] = []
    for line in [*answer.splitlines(), ""]:
        numbered, bullet = _NUMBERED.match(line), _BULLET.match(line)
        match = numbered or bullet
        if match and not (bullet and run and run[-1].numbered):
            ordinal = int(numbered["n"]) if numbered else len(run) + 1
            if run and (run[-1].numbered != bool(numbered) or (numbered and ordinal == 1 and run[-1].ordinal != 0 and len(run) > 1)):
                yield from run if len(run) > 1 else ()
                run = []
                ordinal = ordinal if numbered else 1
            run.append(_Entry(topic, ordinal, _plain(match["item"]), bool(numbered)))
            continue
        if match or not line.strip() or line.startswith(("   ", "\t")):
            continue  # a nested bullet, a blank line between items, a continuation
        if len(run) > 1:
            yield from run
        run, last_line = [], line
        topic = _topic_of(last_line)
    if len(run) > 1:
        yield from run


def _topic_of(line: str) -> str:
    heading = _HEADING.match(line)
    if not heading:
        return ""
    text = _plain(heading["hash"] or heading["bold"] or heading["colon"])
    return excerpt(sentences(text)[-1] if sentences(text) else text, TOPIC_WIDTH)


def _asked_for(asked: str) -> str:
    match = _ASKS_FOR.search(one_line(asked))
    return excerpt(match["what"] if match else asked, TOPIC_WIDTH)


def _kind(entry: _Entry, asked: str) -> str:
    if _INGREDIENTS.search(entry.topic):
        return "recipe"
    if _STEPS.search(entry.topic) or (entry.numbered and _WANTS_STEPS.search(asked)):
        return "step"
    return "recommendation" if _WANTS_ADVICE.search(asked) else "list_item"


def _links(answer: str) -> Iterator[Proposal]:
    seen = set()
    for match in _LINK.finditer(answer):
        target = match["target"] or match["bare"]
        if target not in seen:
            seen.add(target)
            yield _proposal(f"{match['label']}: {target}" if match["label"] else target, "link", match["label"] or "", None)


def _made_texts(answer: str, asked: str) -> Iterator[Proposal]:
    for match in _CODE.finditer(answer):
        first = next((line.strip() for line in match["body"].splitlines() if line.strip()), "")
        if first:
            yield _proposal(first, "generated_text", f"{match['language'] or 'code'} for {_asked_for(asked)}", None)
    for match in _TITLE.finditer(answer):
        yield _proposal(match["title"], "title", _asked_for(asked), None)
    if DRAFT.search(asked):
        quoted = [line.lstrip("> ").strip() for line in answer.splitlines() if line.startswith(">") and line.lstrip("> ").strip()]
        if quoted:
            yield _proposal(quoted[0], "generated_text", _asked_for(asked), None)


def _proposal(item: str, kind: str, topic: str, ordinal: int | None) -> Proposal:
    text = excerpt(item, ITEM_WIDTH)
    return Proposal(
        kind="artifact",
        text=text,
        subject=topic,
        value=text,
        asserted=False,  # the assistant's words are never what the user stated (W6, P3)
        attribute_tag=tags.tag(f"{topic} {text}"),
        entities=tuple(terms.entity_spans(text)),
        evidence=excerpt(item, EVIDENCE_WIDTH),
        fields={"artifact_type": kind, "topic": topic, "item_text": text, "ordinal": ordinal},
    )


def _plain(markdown: str) -> str:
    """A line of Markdown as its reader sees it."""
    return one_line(_MARKS.sub("", _LINK.sub(lambda match: match["label"] or match["bare"], markdown)))
