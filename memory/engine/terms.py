"""Words as the indexes know them: one way to tokenize, for states and for queries, in any language.

Rules (RELIABILITY R3): compatibility forms and case are folded, accents of Latin, Greek and Cyrillic letters dropped, Latin words stemmed; scripts
written without blanks become bigrams; numbers lose their grouping and currency, so that “€21,500” and “21500” are one term.
"""

# ruff: noqa: SIM905 - lists of words read best as text

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Final

import snowballstemmer

from memory.engine.text import one_line

MAX_TERM = 100  # characters: the width of the postings' column
MAX_ENTITY_WORDS = 6

# Function words only: what a language needs to hang content on. Negations and question words of content (“who”) carry little for recall either.
STOPWORDS: Final = frozenset(
    """a an the and or but if so as at by for from in into of off on onto out over to up with without about than then there here this that these those
    i me my mine we us our ours you your yours he him his she her hers it its they them their theirs myself yourself itself
    is am are was were be been being do does did doing have has had having will would shall should can could may might must
    not no nor yes what which who whom whose when where why how all any both each few more most other some such only own same too very just also
    s t d ll m re ve don doesn didn isn aren wasn weren won wouldn couldn shouldn hasn haven hadn let lets""".split()
    + "der die das und oder ist ein eine einen dem den des ich du er sie es wir ihr nicht mit von zu im am auf fur".split()
    + "le la les un une des du et ou est je tu il elle nous vous ils ne pas que qui dans pour sur avec au aux ce cette mon ma mes".split()
    + "el los las una unos unas y es yo tu ella nosotros en por para con del al que mi su se lo".split()
)

# Words of requests and small talk: in the index, but no evidence of what a turn is about.
COMMON: Final = frozenset(
    """please thanks thank hello hi hey ok okay sure great good nice well now still again back get got give gave go going make made want wanted need needed
    know think thought tell told say said ask asked help like use used using way thing things lot bit much many one two first last next new
    explain describe write create show list provide suggest recommend find look see try talk mean question answer example examples really maybe
    something anything everything someone anyone able work come take let keep put seem sound right best better different possible kind sort""".split()
)

_FOLDED_LETTERS = str.maketrans(
    {
        "ø": "o",
        "æ": "ae",
        "œ": "oe",
        "ł": "l",
        "đ": "d",
        "ð": "d",
        "þ": "th",
        "ı": "i",
        "’": "'",
        "‘": "'",
        "ʼ": "'",
        "ς": "σ",
        "\u0640": None,
        "أ": "ا",
        "إ": "ا",
        "آ": "ا",
        "ى": "ي",
    }
)
# Scripts without blanks between words (Korean has blanks, but its endings glue to the stem): Han, Hiragana, Katakana, Hangul, Thai, Lao, Khmer, Burmese.
DENSE = (
    "\u0e01-\u0e4e\u0e81-\u0eff\u1000-\u109f\u1780-\u17d3\u3005-\u3007\u3041-\u3096\u309d\u309e"
    "\u30a1-\u30fa\u30fc-\u30fe\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U000323af"
)
_EMOJI = "\u2600-\u27bf\u2b50\u2b55\U0001f1e6-\U0001f1ff\U0001f300-\U0001f3fa\U0001f400-\U0001faff"


def _characters(categories: str, first: int, last: int) -> str:
    """The characters of some Unicode categories, as the inside of a character class."""
    points = [point for point in range(first, last) if unicodedata.category(chr(point)) in categories.split()]
    ranges: list[list[int]] = []
    for point in points:
        if ranges and point == ranges[-1][1] + 1:
            ranges[-1][1] = point
        else:
            ranges.append([point, point])
    return "".join(f"{re.escape(chr(low))}-{re.escape(chr(high))}" for low, high in ranges)


_MARKS = _characters("Mn Mc", 0x300, 0xFE30)  # vowel signs are part of a word, though `\w` leaves them out
_UPPER = _characters("Lu", 0x41, 0x530)  # Latin, Greek, Cyrillic
_NUMBER = r"\d{1,3}(?:[,'\u00a0\u202f\u2009]\d{3})+(?:\.\d+)?(?!,?\d)|\d{1,3}(?:\.\d{3})+,\d{1,2}(?!\d)|\d+(?:[.,:/-]\d+)*"
_AMOUNT = r"\d+(?:[.,]\d+)*(?:k|kg|g|mg|km|m|cm|mm|ml|l|h|min|s|gb|mb|tb|kb|hz|kwh|kw|w|am|pm|eur|usd|gbp|chf|px|mph|lb|lbs|oz|ft|c|f)"
_TOKEN = re.compile(
    rf"(?P<dense>[{DENSE}]+)|(?P<emoji>[{_EMOJI}])|(?P<amount>{_AMOUNT}(?!\w))|(?P<number>(?>{_NUMBER})(?![^\W\d_]))"
    rf"|(?P<word>[^\W_](?:[^\W_{DENSE}]++|[{_MARKS}]++|'(?=[^\W\d_]))*+)"
)
_ANY_TOKEN = re.compile(re.sub(r"\(\?P<\w+>", "(?:", _TOKEN.pattern))
# The same for texts of ASCII alone, in a quarter of the time.
_ASCII_TOKEN = re.compile(rf"{_AMOUNT}(?!\w)|(?>{_NUMBER})(?![a-z])|[a-z0-9](?:[a-z0-9]++|'(?=[a-z]))*+", re.ASCII)
_GROUPED = re.compile(r"(?<=\d)[\u00a0\u202f\u2009](?=\d{3}(?!\d))")  # a narrow blank between the thousands
# Cyrillic й stays a letter of its own; ё and stress marks don't.
_ACCENTED = re.compile(r"(?<=[A-Za-z\u0370-\u03ff])[\u0300-\u036f]+|(?<=[\u0400-\u04ff])(?:\u0301|(?<=е)\u0308)")
_SHORT_VOWELS = re.compile(r"[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670]")  # of Hebrew and Arabic, mostly not written

_stemmer = snowballstemmer.stemmer("english")
_stemmer_lock = threading.Lock()  # a stemmer keeps the word it works on in itself


def fold(text: str) -> str:
    """The text as it is matched: compatibility forms, case and accents folded; its words and their order stay."""
    if text.isascii():
        return text.lower()
    text = _GROUPED.sub("'", text)  # before compatibility forms turn it into a plain blank
    text = unicodedata.normalize("NFKC", text.translate({0x0130: "i"})).casefold()
    text = _ACCENTED.sub("", unicodedata.normalize("NFD", text))
    text = _SHORT_VOWELS.sub("", unicodedata.normalize("NFC", text)).translate(_FOLDED_LETTERS)
    return "".join(str(unicodedata.digit(character)) if character.isdigit() and not character.isascii() else character for character in text)


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of a folded word (Snowball, English); words of other scripts and words with digits are their own stem."""
    if not word.isascii() or not word.isalpha():
        return word
    with _stemmer_lock:
        return str(_stemmer.stemWord(word))


def number(text: str) -> str:
    """A number as written → as indexed: “21,500.00” → “21500”, “1.234,50” → “1234.5”, “12,5” → “12.5”; times, dates and versions stay."""
    text = re.sub(r"['\u00a0\u202f\u2009]", "", text)
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", text):
        text = text.replace(",", "")
    elif re.fullmatch(r"\d{1,3}(\.\d{3})+,\d{1,2}", text) or re.fullmatch(r"\d+,\d+", text):
        text = text.replace(".", "").replace(",", ".")
    if re.fullmatch(r"\d+\.\d+", text):
        text = text.rstrip("0").rstrip(".")
    return text


def _thousands(value: str) -> str:
    """“21.5” of “21.5k” → “21500”; what isn't one number stays."""
    return f"{Decimal(value) * 1000:.0f}" if value.replace(".", "", 1).isdigit() else value


def _words(folded: str) -> Iterable[tuple[str, str]]:
    """Pairs (kind, word) of a folded text: word, number, gram or emoji, unstemmed, function words included."""
    for match in _TOKEN.finditer(folded):
        kind, token = match.lastgroup or "", match.group()
        if kind == "dense":
            yield from (("gram", token[i : i + 2]) for i in range(max(1, len(token) - 1)))
        elif kind == "number":
            yield "number", number(token)
        elif kind == "amount":
            unit = token.lstrip("0123456789.,")
            value = number(token.removesuffix(unit))
            yield "number", _thousands(value) if unit == "k" else value
            if unit != "k":
                yield "word", unit
        elif kind == "word":
            yield "word", token.removesuffix("'s").replace("'", "")
        else:
            yield "emoji", token


def terms(text: str) -> list[str]:
    """The terms a text is indexed under, in order and repeated as often as said; function words are left out."""
    found: list[str] = []
    folded = fold(text)
    for token in (_ASCII_TOKEN if folded.isascii() else _ANY_TOKEN).findall(folded):
        found += _terms_of(token) if len(token) <= MAX_TERM else _terms_of.__wrapped__(token)
    return found


@lru_cache(maxsize=65_536)
def _terms_of(token: str) -> tuple[str, ...]:
    """The terms of one folded token; most texts are made of the same few thousand."""
    listed = ((stem(word) if kind == "word" else word)[:MAX_TERM] for kind, word in _words(token) if word and not (kind == "word" and word in STOPWORDS))
    return tuple(listed)


_PLACED = re.compile(rf"[{DENSE}]|(?>{_NUMBER})(?![^\W\d_])|[^\W_](?:[^\W_{DENSE}]++|[{_MARKS}]++|['’](?=[^\W\d_]))*+")


def placed(text: str) -> list[tuple[str, int, int]]:
    """The words of a text as (term, start, end) in the text as written, function words left out; a script without blanks goes by its characters."""
    found: list[tuple[str, int, int]] = []
    for match in _PLACED.finditer(text):
        token = match.group()
        found += [(term, match.start(), match.end()) for term in (_terms_of(fold(token)) if len(token) <= MAX_TERM else ())]
    return found


def content_terms(text: str) -> list[str]:
    """The distinct terms that say what a text is about: without the words of requests and small talk, in order of appearance."""
    return list(dict.fromkeys(term for term in terms(text) if term not in _COMMON_STEMS))


def surfaces(text: str) -> dict[str, str]:
    """For every term of a text the word it was written as first (folded), to name it to a person."""
    return {(stem(token) if kind == "word" else token)[:MAX_TERM]: token for kind, token in reversed(list(_words(fold(text))))}


def words(text: str) -> list[str]:
    """All words of a text, folded and unstemmed, function words included: what cues are read from."""
    return [token for _, token in _words(fold(text))]


_HAN = re.compile("[\u3005-\u3007\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af]")
_DENSE_RUN = re.compile(rf"[{DENSE}]+")
_HANGUL = re.compile("[\uac00-\ud7a3]")


def count_words(text: str) -> int:
    """About how many words a text has, function words included. Where no blanks part them: 3 Han characters for 2 words, 5 others for 2."""
    tokens = _ANY_TOKEN.findall(fold(text))
    count = 0.0
    for token in tokens:
        if not _DENSE_RUN.fullmatch(token) or _HANGUL.match(token):  # Korean has blanks, only its endings glue
            count += 1
            continue
        han = len(_HAN.findall(token))
        count += max(1.0, han / 1.5 + (len(token) - han) / 2.5)
    return round(count)


# --- Entities ----------------------------------------------------------------------------------------------------------

_CAPITAL = rf"[{_UPPER}][^\W_{DENSE}]*(?:['’][^\W\d_]+)?"
_SPAN = re.compile(
    rf"(?<![\w'’]){_CAPITAL}(?:(?:[ \u00a0-](?:of the |of |de la |de |van der |van |von |del |du |& )?){_CAPITAL}|[ -]\d+[A-Za-z]{{0,2}}(?![\w,.]\d))*"
)
_QUOTED = re.compile(r"“([^”\n]{2,80})”|\"([^\"\n]{2,80})\"|«\s?([^»\n]{2,80}?)\s?»|「([^」\n]{1,40})」|『([^』\n]{1,40})』|„([^“”\n]{2,80})[“”]")
_UNITS = (
    r"kg|g|km|m|cm|mm|ml|l|liters?|litres?|hours?|hrs?|minutes?|mins?|days?|weeks?|months?|years?|miles?|pounds?|lbs?|euros?|dollars?|eur|usd|gbp"
    r"|chf|%|percent|°c|°f|gb|mb|tb|people|persons|pages|slides|nights"
)
_QUANTITY = re.compile(
    rf"(?P<sign>[€$£¥])\s?(?P<money>\d[\d,.'\u00a0\u202f]*\d|\d)(?P<kilo>k)?|(?<![\d,.])(?P<amount>\d[\d,.]*\d|\d)\s?(?P<unit>{_UNITS}|[€£¥])(?!\w)",
    re.IGNORECASE,
)
_PRODUCT = re.compile(r"(?<![A-Za-z\d_@/.])(?:[A-Za-z]+\d[A-Za-z0-9-]*|[a-z]+[A-Z][A-Za-z0-9]+|[A-Z][a-z]+[A-Z][A-Za-z0-9]*|\d+[A-Z]{2,}[A-Za-z0-9]*)")
_HANDLE = re.compile(
    r"(?<!\w)[@#][^\W\d]\w{1,40}|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{0,64}\w|(?<![\w.-])(?:https?://)?(?:www\.)?([a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|org|net|io|dev|ai|co|eu|de|fr|uk))\b",
    re.IGNORECASE,
)
_KATAKANA = re.compile(r"[\u30a1-\u30fa\u30fc]{3,}")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;\n•*>\-–—(\"“]\s*|\d[.)]\s*)$")
_CURRENCY = {"€": "eur", "$": "usd", "£": "gbp", "¥": "jpy"}


def entity_spans(text: str) -> list[str]:
    """Names and exact values as written, distinct, in order: capitalized spans, quotations, amounts with a unit, product-like words, handles.

    A single capitalized word that opens a sentence counts unless it is an ordinary one; “I” never does."""
    found: list[tuple[int, str]] = []
    for match in _SPAN.finditer(text):
        span, start = match.group(), match.start()
        pieces = span.split(" ")
        opens = bool(_SENTENCE_START.search(text, max(0, start - 6), start))
        if opens:
            common = is_common(pieces[0])
            while pieces and (common or fold(pieces[0]) in STOPWORDS):  # “In New York”: the first word alone is in doubt
                start += len(pieces.pop(0)) + 1
                common = False
        while pieces and is_common(pieces[-1]):
            pieces.pop()
        alone = len(pieces) == 1
        if alone and opens and start == match.start() and _is_ordinary(pieces[0]):
            continue
        if pieces and len(pieces) <= MAX_ENTITY_WORDS and not (alone and (len(pieces[0]) < 2 or is_common(pieces[0]))):
            found.append((start, " ".join(pieces)))
    for match in _QUOTED.finditer(text):
        quoted = one_line(next(group for group in match.groups() if group is not None))
        if quoted and len(quoted.split()) <= MAX_ENTITY_WORDS:
            found.append((match.start(), quoted))
    found += [(match.start(), match.group()) for pattern in (_QUANTITY, _PRODUCT, _HANDLE, _KATAKANA) for match in pattern.finditer(text)]
    return list(dict.fromkeys(span for _, span in sorted(found, key=lambda pair: pair[0])))


def entity_terms(text: str) -> list[str]:
    """The entity spans of a text as the entity index knows them: folded, numbers normalized, distinct, in order."""
    return list(dict.fromkeys(term for span in entity_spans(text) if (term := entity_term(span))))


_WORDS = re.compile(r"[a-z]+(?: [a-z]+)*")
_UNCASED = frozenset('"@#')  # quotations and handles are names in small letters too
_SMALL = frozenset("of the de la van der von del du com org net io dev ai co eu fr uk".split())  # parts of names and of addresses, which have none


def _is_written_as_name(name: str, text: str, folded: str) -> bool:
    """Whether a word of the name stands in the text with a capital, as one of every name does; `folded` is the text in small letters."""
    words = name.split()
    if not _SMALL.isdisjoint(words):
        return True
    for word in words:
        at = folded.find(word)
        while at >= 0:
            if text[at : at + len(word)] != word:
                return True
            at = folded.find(word, at + 1)
    return False


def has_entity(text: str, entities: Iterable[str]) -> bool:
    """Whether a text has one of these entities, as the entity index knows them.

    Finding all of a turn takes half a millisecond, so it is done only where the words of one stand in the text at all."""
    plain = fold(text).replace("'", "")
    exact = not plain.isascii()  # what folding makes of a part depends on what is beside it
    possible = {name for name in entities if exact or not name.isascii() or any(map(str.isdigit, name)) or all(word in plain for word in name.split())}
    if text.isascii() and _UNCASED.isdisjoint(text):
        possible = {name for name in possible if not _WORDS.fullmatch(name) or _is_written_as_name(name, text.replace("'", ""), plain)}
    return bool(possible) and not possible.isdisjoint(entity_terms(text))


@lru_cache(maxsize=16_384)
def entity_term(span: str) -> str:
    """One entity as the index knows it: “The Bosch” → “bosch”, “€21,500” → “21500 eur”, “24kg” → “24 kg”."""
    quantity = _QUANTITY.fullmatch(span.strip())
    if quantity:
        value = number(quantity["money"] or quantity["amount"])
        if quantity["kilo"]:
            value = _thousands(value)
        unit = _CURRENCY.get(quantity["sign"] or quantity["unit"], fold(quantity["unit"] or ""))
        return f"{value} {stem(unit)}".strip()
    tokens = [token for _, token in _words(fold(span))]
    if any(kind == "gram" for kind, _ in _words(fold(span))):
        return "".join(fold(span).split())[:MAX_TERM]
    while len(tokens) > 1 and tokens[0] in STOPWORDS:
        tokens = tokens[1:]
    return " ".join(tokens)[:MAX_TERM]


def is_common(word: str) -> bool:
    """Whether a word that is written with a capital may be no name: a function word, or one that often opens a sentence."""
    folded = fold(word).removesuffix("'s").split("'")[0]
    return folded in STOPWORDS or folded in COMMON or folded in _OPENERS


# Words that are mostly written small, in many languages (made by memory/llm/build_ordinary.py): with a capital they open a sentence.
_ORDINARY = frozenset(fold((Path(__file__).parent / "ordinary.txt").read_text(encoding="utf-8")).split())


def _is_ordinary(word: str) -> bool:
    """Whether a word is mostly written small; rarer participles (“Fermenting”) are told by their ending."""
    folded = fold(word).removesuffix("'s").split("'")[0]
    return folded in _ORDINARY or (folded.endswith("ing") and len(folded) >= _PARTICIPLE)


_PARTICIPLE = 9  # letters: shorter ones may be names (“Sterling”), and the frequent ones are listed


_OPENERS = frozenset(
    """besides
    however therefore finally also additionally overall remember note here hope according based during while since because although despite after before
    once unless until whether instead meanwhile today tomorrow yesterday currently generally usually sometimes often always never perhaps actually basically
    consider ensure check add set start begin follow include includes choose avoid reduce increase improve learn read run open click enter select remove wait
    compare summarize translate rewrite generate continue imagine assume act pretend discuss define calculate design develop build plan think speak call
    yeah yep nope wow oh ah hmm absolutely definitely certainly course sorry unfortunately welcome glad happy monday tuesday wednesday thursday friday saturday
    sunday am pm these another every several various certain things people person time day week month year""".split()
)
_COMMON_STEMS = frozenset(stem(word) for word in COMMON)
