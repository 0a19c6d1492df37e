"""How a sentence is meant (stated, planned, supposed, asked, requested), and the user's words told in the third person."""

# ruff: noqa: SIM905 - lists of words read best as text
from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from memory.engine.text import one_line, sentences

Mood = Literal["stated", "planned", "supposed", "asked", "requested"]

# Text that is quoted or pasted is not the user speaking: code, quotations, recalled context, reasoning (W5).
_NOT_SAID = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|<(memory|think|thinking|reasoning|context|DataContext|ConversationHistory|\w*Evidence)\b[^>]*>.*?(?:</\1>|\Z)"
    r"|^## ?(?:ConversationHistory|SupplementalEvidence|DataContext|\w+Evidence)\b.*?(?=\n\n|\Z)|^[^\S\n]*>.*?$",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
_LIST_MARK = re.compile(r"^\s*(?:[-*•–]|\d{1,2}[.)])\s+")
_CLAUSE = re.compile(
    r"\s*;\s*|\s+[-–—]\s+|,?\s+but\s+(?=\w)|,\s+(?=(?i:i|we)\s)|,\s+(?:and|so)\s+(?=(?:(?i:i|we|my|our|the|it|he|she|they|"
    r"his|her|their|let's)|[A-Z]\w+(?:'s)?\s+\w+)\b)"
    r"|:\s+(?=(?i:leaving|it|we|i|it's|they|the)\b)|\s+and\s+(?=(?i:i|we|my|our)\b)|(?<=[a-z])\s+and\s+(?=the\s+\w+\s+(?:is|are)\b)"
)
_LEAD = re.compile(
    r"^(?:(?:ok(?:ay)?|so|well|right|great|good|perfect|thanks|thank you|cool|nice|yes|yeah|yep|no|hi|hey|hello|oh|ah|and|"
    r"but|also|anyway|by the way|btw|fyi|actually|sorry|hmm+|good news|bad news|quick update|update|small change|"
    r"change of plans?|correction|note|remember|please note|just so you know|for the record|one more thing|speaking of (?:which|\w+(?: \w+){0,2})|first|then|"
    r"finally|as i said)\b(?: again| (?:a lot|so much|very much))?\s*[,.:!–—-]*\s+)+",
    re.IGNORECASE,
)
_REMEMBER = re.compile(r"^(?:please\s+)?(?:remember|note|keep in mind|don't forget)\s+(?:that\s+)?(?=\w+\s)", re.IGNORECASE)

_ASKED = re.compile(
    r"[?？؟]\s*[\"'”’)]*$|[吗呢か]$|^(?:what|who|whom|whose|which|when|where|why|how|is|are|was|were|am|do|does|did|can|could|"
    r"would|will|shall|should|may|might|has|have|had)\b(?!['’]s say)"
    r"(?!\s+(?:been|gone)\b)|\b(?:i wonder|i was wondering|i'm wondering|do you know|any idea|not sure (?:if|whether|what|"
    r"which|how|when|where|who|about)|(?:don't|do not) know (?:if|whether|what|which|how|when|where|who|why))\b",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(
    r"\b(?:if|unless|suppose|supposing|imagine|pretend|assuming|hypothetically|maybe|perhaps|possibly|might|could|would|"
    r"wouldn't|'d|probably|apparently|supposedly|i guess|i think about|thinking (?:of|about)|considering|"
    r"toying with|wish|in theory|let's pretend|for example|e\.g|say i|what if|or so|if only|likely|unlikely|rumou?r|allegedly|seems? (?:like|to)|either)\b",
    re.IGNORECASE,
)
_HEDGED_FINE = re.compile(r"\b(?:would like|'d like|i'd love|could(?:n't| not))\b", re.IGNORECASE)
_PLANNED = re.compile(
    r"\b(?:going to|gonna|will|won't|'ll|shall|plan(?:s|ning)? (?:to|on|for)|want(?:s)? to|would like|'d like|'d love|"
    r"hop(?:e|es|ing) (?:to|for)|intend(?:s|ing)? to|aim(?:s|ing)? to|need(?:s)? to|have to|has to|must|should|"
    r"ought to|about to|looking forward|can't wait|dream of|considering|supposed to|meant to|trying to decide|let's (?!say|"
    r"make|go with|keep|stick|take|settle)|we should|due to (?:start|begin)|expect(?:s|ing)? to|werde[nt]?|je vais|vamos a|"
    r"voy a)\b",
    re.IGNORECASE,
)
_REQUESTED = re.compile(
    r"^(?:please\s+|can you\s+|could you\s+|now\s+|just\s+|kindly\s+|ok(?:ay)?,?\s+)*(?:write|give|list|tell|show|help|"
    r"explain|describe|summari[sz]e|translate|rewrite|draft|suggest|recommend|compare|find|generate|create|propose|"
    r"remind|continue|go on|go ahead|elaborate|expand|shorten|fix|check|review|add|remove|delete|forget|ignore|answer|repeat|"
    r"sort|order|rank|design|build|plan|outline|brainstorm|calculate|compute|convert|define|read|make me|make (?:a|an|the|"
    r"this|that|some)|"
    r"give me|let me know|tell me|show me|act as|imagine|pretend|think|consider|use|try|start|stop|keep going|proofread|"
    r"polish|edit|format|turn|put|say|come up|pick|choose|call it a day|walk me|teach|provide|analy[sz]e|evaluate|schreib|"
    r"gib|erkläre|écris|donne|explique|escribe|dame|explica)\b",
    re.IGNORECASE,
)
# Imperatives that settle a value: the user decides, nobody is asked for work.
DECIDING = re.compile(
    r"^(?:then\s+|please\s+|ok(?:ay)?,?\s+|and\s+|let's\s+|let us\s+|so\s+)*(?:make it|make that|change|move|set|raise|lower|"
    r"increase|decrease|push|bring|switch|update|say|go with|call it|put)\b",
    re.IGNORECASE,
)

_ENGLISH = frozenset(
    """the a an i my we our is are was were to of in on for with and it that this have has at from be not but you your he she they as by so will me
    us just now about there been had do don't""".split()
)
_OTHERS = frozenset(
    """der die das und ich ist nicht ein eine mein meine wir für mit den dem auf zu im bin habe le la les des et je est mon ma nous pour avec
    dans du une pas que el los las y mi es un una en con por para
    il di che e sono mio ho della per non o os as eu meu minha é do da não em um uma het een en ik mijn van jag och min är на и в я мой не что
    это с del al se su lo muy pero como estoy soy tengo llamo mais oder aber wie sind war suis sont avons très estou tenho sono siamo
    abbiamo""".split()
)  # fmt: skip


def said(text: str) -> str:
    """What the user says themself: without code, quoted lines, pasted memory and reasoning."""
    return _NOT_SAID.sub(" ", text)


def english(text: str) -> bool:
    """Whether English rules may read the text: mostly Latin letters, and more English function words than those of other languages."""
    letters = [character for character in text if character.isalpha()]
    if not letters or sum(character < "\u0250" for character in letters) < 0.9 * len(letters):
        return False
    words = [word.strip(".,;:!?\"'()").lower().replace("’", "'") for word in text.split()]
    ours, others = sum(word in _ENGLISH or "'" in word for word in words), sum(word in _OTHERS and word not in _ENGLISH for word in words)
    return ours > others or (ours == others == 0 and all(letter.isascii() for letter in letters))


def mood(sentence: str) -> Mood:
    """How one sentence is meant. Only "stated" may become an asserted fact (W6)."""
    bare = strip_lead(sentence).replace("’", "'")
    if _ASKED.search(bare):
        return "asked"
    if DECIDING.match(bare):
        return "stated"
    if _SUPPOSED.search(_HEDGED_FINE.sub(" ", bare)):
        return "supposed"
    if _REQUESTED.match(bare):
        return "requested"
    return "planned" if _PLANNED.search(bare) else "stated"


def clauses(text: str) -> Iterator[str]:
    """The clauses of what a user says, each on one line, list marks dropped."""
    for sentence in sentences(said(text)):
        line = one_line(_LIST_MARK.sub("", sentence)).replace("’", "'")
        if mood(line) == "asked":
            # A question stays whole, half of it may look like a statement; but what is told before the question is told.
            told = _TOLD_FIRST.match(strip_lead(line))
            if told:
                yield from (piece for piece in _pieces(told["told"]))
                line = told["asked"]
            yield line
            continue
        yield from _pieces(line)


_TOLD_FIRST = re.compile(
    r"^(?P<told>(?:i|we|my|our|i'm|i've|we're|we've)\s.{12,}?)(?:,\s+(?:and\s+|so\s+|but\s+)?|\s+[-–—]\s+|\.\.\.\s*)"
    r"(?P<asked>(?:speaking of which,?\s+)?(?:do you|does|can you|could you|would you|what|which|how|is there|are there|any|"
    r"should i|i was wondering|i wonder)\b.+)$",
    re.IGNORECASE,
)


def _pieces(line: str) -> Iterator[str]:
    for piece in _CLAUSE.split(line):
        if piece and piece.strip(" ,"):
            yield from _second_verb(piece.strip(" ,"))


_TWO_VERBS = re.compile(
    r"^(?P<who>i|we)\s+(?P<first>.+?)\s+and\s+(?:i\s+)?(?P<second>(?:work|live|study|play|speak|own|prefer|moved|started|joined|bought|booked)\b.+)$",
    re.IGNORECASE,
)


def _second_verb(clause: str) -> Iterator[str]:
    """“I live in Porto and work at Siemens” says two things of one subject."""
    match = _TWO_VERBS.match(strip_lead(clause))
    if match:
        yield f"{match['who']} {match['first']}"
        yield f"{match['who']} {match['second']}"
    else:
        yield clause


def strip_lead(sentence: str) -> str:
    """The sentence without the words that only open it: “OK, thanks, so the …” → “the …”."""
    bare = _LEAD.sub("", sentence.strip() + " ").strip()
    bare = _REMEMBER.sub("", bare)
    return bare or sentence.strip()


# --- Third person ----------------------------------------------------------------------------------------------------------

_IRREGULAR = {"am": "is", "are": "is", "have": "has", "do": "does", "don't": "doesn't", "haven't": "hasn't", "aren't": "isn't", "go": "goes"}
_PAST = frozenset(
    """was were had did went bought ran got saw took made came ate paid spent lost found met said told gave left felt kept began wrote read put
    set cut sold sent drove flew chose broke built brought caught drank forgot grew
    heard held knew led lent rode sang slept spoke stood swam taught thought threw understood woke wore won hit hurt let cost quit shut split
    spread rang drew fed fell fought hid laid lit rose shook shot showed sank sat stole stuck
    swept tore became began dealt dug hung meant proved sought shone wound couldn't didn't wasn't hadn't weren't""".split()
)
_MODAL = frozenset("will would can could may might must shall should won't can't cannot shouldn't wouldn't used need'll 'll 'd".split())
_ADVERB = frozenset(
    """always usually really also just now still currently never often sometimes already finally recently only mostly actually normally absolutely
    both all even ever""".split()
)
_CONTRACTED = {
    "i'm": "I am",
    "i've": "I have",
    "i'll": "I will",
    "i'd": "I would",
    "we're": "we are",
    "we've": "we have",
    "we'll": "we will",
    "we'd": "we would",
}
_SECOND_VERB = re.compile(r"\b(and|but)\s+(work|live|play|like|love|prefer|drink|eat|study|teach|have|use|speak|own|want|hate|need|cook|bake|run)\b")


def third_person(sentence: str) -> str:
    """The user's sentence told about them: “I live in Porto and my sister …” → “The user lives in Porto and the user's sister …”."""
    text = re.sub(r"\b(?:i'm|i've|i'll|i'd|we're|we've|we'll|we'd)\b", lambda match: _CONTRACTED[match.group().lower()], sentence, flags=re.IGNORECASE)
    text = re.sub(rf"\bI((?:\s+\w+ly|\s+(?:{'|'.join(sorted(_ADVERB))}))*)\s+([\w']+)", lambda m: f"the user{m[1]} {_agree(m[2])}", text)
    text = re.sub(r"\bI\b", "the user", text)
    text = re.sub(r"\b(?:my|our)\b", "the user's", text, flags=re.IGNORECASE)
    text = re.sub(r"\bmine\b|\bours\b", "the user's", text, flags=re.IGNORECASE)
    text = re.sub(r"\bmyself\b", "themself", text, flags=re.IGNORECASE)
    text = re.sub(r"\bme\b", "the user", text, flags=re.IGNORECASE)
    text = re.sub(r"\b[Ww]e\b", "the user and others", text)
    text = re.sub(r"(?<![A-Z.])\bus\b", "the user and others", text)
    if "the user" in text:
        text = _SECOND_VERB.sub(lambda match: f"{match[1]} {_agree(match[2])}", text, count=1) if not re.search(r"and others", text) else text
    return finish(text)


def finish(sentence: str) -> str:
    """A sentence with a capital at its start and one full stop at its end."""
    text = sentence.strip().rstrip(" ,;:-–—")
    if not text:
        return ""
    if not re.match(r"[a-z]+[A-Z]", text):  # iPhone
        text = text[0].upper() + text[1:]
    return text if re.search(r"[.!?…。！？]$", text) else text + "."


def _agree(verb: str) -> str:
    lower = verb.lower()
    if lower in _IRREGULAR:
        return _IRREGULAR[lower]
    if lower in _PAST or lower in _MODAL or lower.endswith(("ed", "ing", "'d", "'ll")) or lower in _ADVERB:
        return verb
    if not lower.isalpha():
        return verb
    if lower.endswith(("s", "sh", "ch", "x", "z")):
        return verb + "es"
    if lower.endswith("y") and lower[-2:-1] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"


def past_verb(word: str) -> bool:
    """Whether a word looks like a verb in the past tense."""
    lower = word.lower()
    return (lower in _PAST or (lower.endswith("ed") and len(lower) > 4)) and lower not in {
        "need",
        "feed",
        "speed",
        "indeed",
        "hundred",
        "read",
        "put",
        "set",
        "cut",
        "let",
        "cost",
        "hit",
        "left",
        "was",
        "were",
        "did",
        "had",
    }
