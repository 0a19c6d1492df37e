"""Node metadata, path evolution and the topic key of a tree (ARBORMEM §4), all extractive: in the words of the turns."""

# ruff: noqa: SIM905 - lists of words read best as text
from __future__ import annotations

import re
from collections.abc import Sequence

from memory.engine import terms
from memory.engine.extract import language
from memory.engine.extract.facts import Fact
from memory.engine.forest import Interaction
from memory.engine.text import excerpt, one_line, sentences

MAX_WORDS = 50
MAX_ENTITIES, MAX_KEYWORDS = 16, 16
STEPS_SHOWN = 4  # latest steps of a path that its summary names, beside where it began
STEP_WIDTH = 90
NAMING = 3  # turns of a path that its tree's topic key is read off
TOPIC_WIDTH = 60
WHOLE_NAME = 0.7  # a phrase is preferred to its one word from this share of the word's score: “Grand Canyon”, not “Grand”

_EMPTY = re.compile(
    r"^(?:thanks?(?: you)?|ok(?:ay)?|great|perfect|cool|nice|yes|no|hi|hello|hey|bye|sure|good|got it|continue|go on|more)\b[\w\s,'’!.]{0,40}$", re.IGNORECASE
)
_LEAD_REQUEST = re.compile(
    r"^(?:(?:can|could|would|will) you (?:please )?|please |i(?:'d| would) like (?:you )?to |i (?:want|need) you to |"
    r"i need (?:some )?help (?:with|to) |help me (?:to )?|tell me |do you know )",
    re.IGNORECASE,
)
# Base64, hashes, rows of signs: nobody's words, and slow to look through for names.
_UNREADABLE = re.compile(r"[!-~]{160,}")
_LEANING = re.compile(r"^(?:it|its|that|this|they|them|he|she|his|her|their|those|these|not)\b", re.IGNORECASE)
_LISTED = re.compile(r"^\s*(?:[-*•]\s+|\d{1,3}[.)]\s+)")
_MARKDOWN = re.compile(r"^\s*(?:#{1,6}\s+|[-*•]\s+|\d{1,3}[.)]\s+|>\s*)|\*\*|__|`")


def node_summary(interaction: Interaction, facts: Sequence[Fact]) -> str:
    """One dense line of at most 50 words: what was settled, else the user's weightiest sentence, with the answer's first informative one if that is short."""
    settled = [fact.text for fact in facts if fact.slotted is not None and fact.asserted]
    said = language.said(interaction.user)
    best = settled[0] if settled else _weightiest(said)
    if len(settled) > 1:
        best = f"{settled[0]} {settled[1]}"
    if len(best.split()) < 12 and not settled:
        answer = _first_informative(interaction.assistant)
        best = answer if not best or (_EMPTY.match(best) and answer) else f"{best} {answer}".strip()
    return _cut(best or one_line(said) or one_line(interaction.assistant))


def _cut(text: str) -> str:
    words = one_line(text).split()
    return " ".join(words) if len(words) <= MAX_WORDS else " ".join(words[: MAX_WORDS - 1]).rstrip(" ,;:") + " …"


def _weightiest(text: str) -> str:
    """The sentence with most to ask for later, the earlier one where two weigh the same; its opening words of courtesy dropped."""
    scored = []
    for place, sentence in enumerate(sentences(_UNREADABLE.sub(" ", text))[:40]):
        line = _MARKDOWN.sub("", one_line(sentence)).strip()
        weight = len(terms.content_terms(line)) + 1.5 * len(terms.entity_spans(line))
        # A long sentence isn't better for being long, a late one less the matter, and one that opens with “it” needs another to be read.
        weight *= (0.6 if _LEANING.match(line) else 1.0) * max(0.6, 1 - 0.08 * place) / (1 + 0.03 * max(0, len(line.split()) - 20))
        scored.append((weight, -place, line))
    if not scored:
        return ""
    best = language.strip_lead(max(scored)[2])
    line = _LEAD_REQUEST.sub("", best)
    if line != best:
        line = line.rstrip("?") or best
    return line[:1].upper() + line[1:]


def _first_informative(answer: str) -> str:
    lines = [line for line in answer.splitlines() if not _LISTED.match(line)]
    for sentence in sentences("\n".join(lines))[:6]:
        line = _MARKDOWN.sub("", one_line(sentence)).strip()
        if len(terms.content_terms(line)) >= 3 and not line.endswith(":") and language.mood(line) != "asked":
            return line
    return ""


def entities(interaction: Interaction) -> tuple[str, ...]:
    """Names and exact values one may ask for later: the user's first, then the answer's."""
    spans = [span for text in (interaction.user, interaction.assistant) for span in terms.entity_spans(_UNREADABLE.sub(" ", language.said(text)))]
    return tuple({terms.entity_term(span): span for span in reversed(spans) if terms.entity_term(span)}.values())[::-1][:MAX_ENTITIES]


def keywords(interaction: Interaction) -> tuple[str, ...]:
    """The stems that say what the turn is about, most frequent first."""
    said = terms.terms(language.said(interaction.user)) + terms.terms(interaction.assistant)
    informative = terms.content_terms(f"{interaction.user}\n{interaction.assistant}")
    informative = [term for term in informative if len(term) > 1 or not term.isascii()]
    order = {term: place for place, term in enumerate(informative)}
    return (
        tuple(sorted(informative, key=lambda term: (-said.count(term), order[term]))[:MAX_KEYWORDS])
        if len(informative) < 400
        else tuple(informative[:MAX_KEYWORDS])
    )


def empty_step(node_summary: str, user: str) -> bool:
    """Whether a state says nothing that a path summary would name (“thanks”)."""
    step = node_summary or _cut(_weightiest(user))
    return not step or bool(_EMPTY.match(step))


def path_summary(topic: str, path: Sequence[Interaction], latest: str) -> str:
    """`Topic: … | Progress: …`: where the path began and its latest steps. Made from the nodes that are there, so that nothing deleted lives on in it (D2)."""
    steps = [interaction.node_summary or _cut(_weightiest(interaction.user)) for interaction in path] + [latest]
    steps = [step for step in steps if step and not _EMPTY.match(step)] or steps
    shown = steps if len(steps) <= STEPS_SHOWN + 1 else [steps[0], "…", *steps[-STEPS_SHOWN:]]
    progress = "; ".join(excerpt(step, STEP_WIDTH).rstrip(".;") for step in shown)
    return f"Topic: {topic or excerpt(steps[0], TOPIC_WIDTH)} | Progress: {progress}"


# --- Topic key ---------------------------------------------------------------------------------------------------------------

_NOUN_BEFORE = frozenset("my our the a an for about on in with this new".split())
# After these stands a verb: “to bake”, “I bake”, “can bake”.
_VERB_BEFORE = frozenset("to i we you they he she it can could should would will may might must let don't didn't won't can't not please".split())
_NOT_TOPIC = frozenset(
    """thing things lot kind sort way part bit idea ideas question questions help advice tips plan plans list week weeks day days month months
    year years time times today tomorrow yesterday morning evening people person
    good best better great right left small big large old long short high low whole full real sure able next last first second three four five
    six seven eight nine ten hundred metre metres meter meters square quick little
    want need like think know make get give take come see look find start started keep use used work working go going back tell write say said
    put try let ask show call bring turn move feel sound seem read wonder accepted accept
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december
    needs wants likes looks seems works gets makes goes says tells means comes smells user assistant happy glad hope hello hi hey thanks thank
    please sorry yes no ok okay""".split()
)
_NOT_ENDING = re.compile(r"(?:ly|ing|ed|est|ful|ous|ive|able|ible)$")
_KEEP = frozenset(
    """talk wedding building painting training meeting housing garden pricing marketing cycling hiking running climbing gardening knitting clothing
    funding heating lighting landing ceiling being feed seed bed shed red""".split()
)
_TOKEN = re.compile(r"[^\W\d_][\w'’-]*")


def topic_key(path: Sequence[Interaction]) -> tuple[str, tuple[str, ...]]:
    """A short noun phrase naming the matter, and other ways to name it; ("", ()) when the texts name nothing.

    A phrase scores by how often the user says it, less by how often the answer does, more where a noun belongs (“my kitchen”) or in a name.
    """
    scores: dict[str, float] = {}
    shown: dict[str, str] = {}
    for place, interaction in enumerate(path[:NAMING]):
        for text, weight in ((language.said(interaction.user)[:1500], 2.0 / (1 + place)), (interaction.assistant[:1500], 0.4 / (1 + place))):
            _score(text, weight, scores, shown, titles=weight >= 1)
    if not scores:
        return "", ()
    order = {phrase: place for place, phrase in enumerate(scores)}  # of two equal ones the first said
    ranked = sorted(scores, key=lambda phrase: (-scores[phrase], order[phrase]))
    wholes = (phrase for phrase in ranked if ranked[0] in phrase.split() and phrase != ranked[0] and scores[phrase] >= WHOLE_NAME * scores[ranked[0]])
    best = next(wholes, ranked[0])
    key = shown[best][:TOPIC_WIDTH]
    parts = [part for part in best.split() if len(part) > 2 and part not in _NOT_TOPIC]
    related = [phrase for phrase in ranked[:12] if phrase != best and set(phrase.split()) & set(parts)]
    variants = list(dict.fromkeys([best, *related, *(parts if len(parts) > 1 else ())]))
    return key[:1].upper() + key[1:], tuple(variants[:6])


def _score(text: str, weight: float, scores: dict[str, float], shown: dict[str, str], *, titles: bool) -> None:
    for sentence in sentences(text)[:12]:
        tokens = [match.group().replace("’", "'").removesuffix("'s") for match in _TOKEN.finditer(sentence)]
        matches = list(_TOKEN.finditer(sentence))
        for place, token in enumerate(tokens):
            if not _noun(token):
                continue
            before = tokens[place - 1].lower() if place else ""
            if before in _VERB_BEFORE and token[:1].islower():
                continue
            name = token[:1].isupper() and place > 0
            gain = weight * (1 + 0.5 * (before in _NOUN_BEFORE) + 0.6 * name)
            _add(scores, shown, token, gain)
            # Two words in a row are one name for the matter when nothing but a blank stands between them.
            follower = tokens[place + 1] if place + 1 < len(tokens) else ""
            if (
                (titles or (token[:1].isupper() and follower[:1].isupper()))
                and follower
                and _noun(follower)
                and not (token.islower() and follower[0].isupper())
                and sentence[matches[place].end() : matches[place + 1].start()] == " "
            ):
                _add(scores, shown, f"{token} {follower}", gain * 1.15 + 0.3 * weight)


def _noun(token: str) -> bool:
    lower = token.lower()
    if lower in _KEEP:
        return True
    if len(lower) < 3 or lower in _NOT_TOPIC or lower in terms.STOPWORDS or lower in terms.COMMON or "'" in lower:
        return False
    return token[:1].isupper() or not (_NOT_ENDING.search(lower) or language.past_verb(lower))


def _add(scores: dict[str, float], shown: dict[str, str], phrase: str, gain: float) -> None:
    key = phrase.lower()
    scores[key] = scores.get(key, 0.0) + gain
    shown.setdefault(key, phrase)
