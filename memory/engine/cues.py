"""What a turn says about where it belongs: go on, back to then, something new; and the times it names, resolved in code (RELIABILITY R2).

A *continuation cue* is a whole message or an opening that can only mean the matter at hand (“go on”, “in your last answer”).
A *temporal-return cue* names a time **and** the talk that took place then (“what we said on Monday”): “yesterday I ran 5 km” tells news and is none.
Windows are half open and in UTC; days begin and end at midnight of the given zone, so they have 23 or 25 hours when clocks change.
"""

# ruff: noqa: SIM905 - lists of words read best as text

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import dateparser

from memory.engine.terms import fold


@dataclass(frozen=True, slots=True)
class Window:
    """A span of time that a text names: from `start` up to but not including `end`, aware, UTC; `phrase` as written (folded)."""

    start: datetime
    end: datetime
    phrase: str


@dataclass(frozen=True, slots=True)
class Cues:
    """The cues of one input. `continuation` and `returning`, `fresh` hold the words that are the cue, empty when there is none.

    `temporal` is where on the timeline a temporal return looks; `returning` goes back to an earlier matter without saying when; `fresh` announces another
    matter; `pronoun` = leans on something said before; `opener` = opens like a reply (“and”, “but”, “yes”); `answer` = speaks of an answer or asks to redo
    it (“shorter”, “your list”, “again”); `greeting` = opens with one, as matters are opened."""

    continuation: str = ""
    temporal: Window | None = None
    returning: str = ""
    fresh: str = ""
    pronoun: bool = False
    opener: bool = False
    answer: bool = False
    greeting: bool = False


# --- Continue, return, begin -------------------------------------------------------------------------------------------

_MORE = r"(?:please |pls |ok |okay |yes |yeah |great |cool |thanks |thank you |and |can you |could you |now |,|!|\.| )*"
_TAIL = r"(?:,? please| pls| now| then| on this| on that| about it| about this| about that| with it| with this| with that)*"
_WHOLE = re.compile(
    rf"{_MORE}(?:continue|go on|keep going|carry on|proceed|tell me more|say more|more|more details?|elaborate|expand|explain (?:this|that"
    rf"|it)(?: further| more)?|"
    r"go ahead|what else|anything else|any others?|and then|what then|say that again|repeat that|"
    r"thanks|thank you|thank you so much|thanks a lot|"
    r"weiter|mach weiter|erzahl mir mehr|mehr dazu|danke|continua|sigue|cuentame mas|gracias|continue s'il te plait|continuez|vas-y"
    r"|dis m'en plus|merci|prosegui|dimmi di piu|grazie|continue por favor|"
    r"продолжай|дальше|подробнее|спасибо|继续|请继续|繼續|接着说|谢谢|続けて|続けてください|もっと教えて|ありがとう"
    r"|계속|계속해|계속해줘|더 알려줘|고마워|اكمل|تابع|شكرا|המשך|תודה)"
    rf"{_TAIL}[\s.!?…。！？]*"
)
_OPENING = re.compile(
    r"(?:and |so |ok(?:ay)? |but |yes |no |,)*(?:(?:in|from|about|regarding|as for|on|to) (?:your|the) (?:last|previous|above) (?:answer|reply"
    r"|response|message|point|list|code|paragraph)"
    r"|you (?:just )?(?:said|mentioned|wrote|listed|suggested) (?:above|just now)|what you (?:just )?(?:said|wrote|listed)\b|your (?:last"
    r"|previous) (?:answer|reply|response|message|point)"
    r"|the (?:one|code|list|text|answer|example)s? (?:above|you just (?:gave|wrote|mentioned))"
    r"|(?:going|following|picking) (?:on|up) (?:from|on) (?:that|this)\b)"
)
_RETURNING = re.compile(
    r"\b(?:(?:let'?s |can we |i(?:'d| would) like to |i want to )?(?:go|come|get|coming|going|getting|circle|circling|switch|switching) back to"
    r"|back to (?:the|my|our|that)|return(?:ing)? to (?:the|my|our)|"
    r"as (?:i|we|you) (?:said|mentioned|discussed) (?:earlier|before)|(?:earlier|before|previously) (?:you|we|i) (?:said|mentioned|talked|discussed|told)|"
    r"(?:you|we|i) (?:said|mentioned|talked about|discussed|told you|listed|recommended|suggested) (?:earlier|before|previously)|where (?:were"
    r"|did) we (?:leave|left|stop)|remember (?:when|the|my|our|that|what))"
    r"|\b(?:zuruck zu|nochmal zu|volviendo a|de vuelta a|revenons a|pour revenir a|tornando a|voltando a)\b|вернемся к|回到|话说回来|さっきの|に戻"
)
_FRESH = re.compile(
    r"^(?:ok(?:ay)? |so |hey |hi |well |,)*(?:(?:a |one )?(?:new|different|unrelated|another|separate|totally different"
    r"|completely different) (?:question|topic|subject|thing|matter|request)"
    r"|(?:on|let'?s talk about|changing|change of|switching) (?:a |an |to )?(?:another|different|new|something else|the subject|topics?"
    r"|subjects?)|(?:something|anything) (?:else|different|new)\b.{0,20}[:,.]"
    r"|off[- ]topic|unrelated|by the way|btw|changing (?:the )?(?:subject|topic)|neue frage|andere frage|anderes thema|otra pregunta|otro tema"
    r"|cambiando de tema|autre question|autre sujet|changeons de sujet"
    r"|другой вопрос|другая тема|换个话题|另一个问题|別の質問|話は変わ|다른 질문|سؤال اخر|שאלה אחרת)"
)
_PRONOUN = re.compile(
    r"\b(?:it|its|they|them|their|this|that|these|those|he|she|his|her|him|one|ones|such|same|there|above|former|latter|else|another"
    r"|others?|1st|2nd|3rd)\b|[这那它他她]|これ|それ|その|この|그것|이것"
)
_OPENER = re.compile(
    r"^(?:and|but|so|or|then|also|ok|okay|yes|yeah|yep|no|nope|nah|thanks|thank|great|good|cool|nice|wow|interesting|perfect|sure|hm+|ah|oh"
    r"|i see|right|well|actually|wait|what about|how about|"
    r"why|but what|what if|can you also|could you also|is that|are those|does that"
    r"|und|aber|ja|nein|y|pero|si|et|mais|oui|non|и|но|а|да|нет)\b|^(?:那|但是|でも|じゃあ|그럼)"
)
_ANSWER = re.compile(
    r"\b(?:your|that|this|the|these|those) (?:last |previous |above |first |second |whole |entire )?(?:repl(?:y|ies)|answers?"
    r"|responses?|lists?|poems?|code|script|output|"
    r"summary|essay|story|explanation|examples?|version|text|paragraph|sentences?|program|function|table|message|letter|recipe|plan"
    r"|suggestions?|steps?|options?)\b"
    r"|\b(?:shorten|shorter|longer|simpler|simplify|rewrite|rephrase|reword|redo|re-do|reformat|elaborate|clarify|regenerate|again"
    r"|instead|wordy|more detail(?:s|ed)?|more concise|less formal|more formal|in detail|further"
    r"|thank you for|thanks for|you(?:'ve| have) (?:provided|given|written|listed|mentioned|said)|you (?:provided|gave|wrote|listed"
    r"|mentioned|said|suggested|recommended)|that(?:'s| is) (?:not|wrong|right|correct|great|perfect|good)"
    r"|explain like|eli5|sources?|citations?|kurzer|ausfuhrlicher|mas corto|plus court)\b|再|もう一度|다시"
)
_GREETING = re.compile(
    r"^(?:hi|hello|hey|good (?:morning|afternoon|evening|day)|greetings|dear|hallo|guten (?:tag|morgen|abend)|hola|buenos dias|buenas"
    r"|bonjour|salut|bonsoir|ciao|ola|bom dia|привет|здравствуйте|你好|您好|こんにちは|안녕|مرحبا|שלום)\b"
)
# The talk that took place then: without it a time is only a time. “We” may be a family and “I made” is news: only verbs of talking count for them.
_TALK = re.compile(
    r"\b(?:we|i) (?:were |was |had |have |both |just |also )?(?:talk(?:ed|ing)? about|discuss(?:ed|ing)?|spoke about|speaking about"
    r"|mention(?:ed)?|chat(?:ted|ting)?|cover(?:ed)?|stopped|left off|leave off|told you|asked you|said|say|saying)\b"
    r"|\bwe (?:were |had |have )?(?:talk(?:ed|ing)?|spoke|speaking|worked on|working on)\b"
    r"|\byou (?:just |also |had |have )?(?:said|told me|mentioned|suggested|recommended|listed|gave me|wrote|explained|showed me|made me|proposed)\b"
    r"|\bdid (?:we|you|i) (?:say|talk|discuss|mention|cover|stop|leave off|suggest|recommend|list|tell|propose|ask you)\b"
    r"|\bour (?:last |previous )?(?:conversation|chat|talk|discussion|session)\b|\byour (?:answer|list|suggestions?|recommendations?|advice|plan)\b"
    r"|\bwhere (?:(?:were|did) (?:we|i)|(?:we|i) (?:were|was|left|stopped))\b|\b(?:go|get|come) back to\b|\b(?:haben wir|hast du|habe ich dir|besprochen)\b"
    r"|\b(?:dijimos|hablamos|dijiste|te dije|te conte|comentamos)\b|\b(?:nous avons (?:dit|parle)|on a (?:dit|parle)|tu as dit|tu m'as|je t'ai)\b"
    r"|\b(?:abbiamo (?:detto|parlato)|hai detto)\b|\b(?:falamos|voce disse)\b"
    r"|мы (?:говорили|обсуждали)|ты (?:говорил|сказал)|我们(?:聊|说|谈|讨论)|你说|聊|说过|話した|言って|教えてくれ|얘기|말했|말한|تحدثنا|قلت|דיברנו|אמרת"
)


# --- Forget -------------------------------------------------------------------------------------------------------------

# A request opens the message, politely or not, and says what: “forget that my budget is …”, “vergiss bitte, was ich …”, “could you forget …?”.
# “Don't forget”, “I forget whether” and “never forget” open otherwise; “forget it” and “forget that, …” only wave something away.
_KIND = (
    r"please|pls|hey|hi|hello|ok|okay|so|well|actually|now|and|kindly|just|bitte|por favor|s'il te plait|s'il vous plait|stp|svp|veuillez|per favore|пожалуйста"
)
_MAY = (
    r"can you|could you|would you|will you|you can|you should|you may|i want you to|i need you to|i'd like you to|i would like you to|kannst du|konntest du"
    r"|konnen sie|konnten sie|du kannst|du sollst|puedes|podrias|puede|podria|tu peux|peux-tu|tu pourrais|pourrais-tu|pouvez-vous"
    r"|puoi|potresti|pode|podes|voce pode"
)
_POLITE = rf"[¿¡ ]*(?:(?:{_KIND})[ ,.!]+)*"
_TOLD = r"forget|vergiss|vergesst|vergessen sie|olvida(?:te de|rte de)?|olvide(?:se de)?|oublie|oubliez|dimentica|dimentichi|esquece|esqueca|забудь|забудьте"
_INFINITIVE = r"forget|vergessen|olvidar(?:te de)?|oublier|dimenticar[ei]|esquecer"
_THAT = (
    r"that|about|the fact that|(?:everything|all|anything) (?:(?:that )?i (?:have )?(?:ever )?(?:said|told you) )?about|dass|alles uber|que|todo sobre|tout sur"
    r"|tudo sobre|tutto su|che|что"
)
_FORGET = re.compile(
    rf"(?:{_POLITE}(?:{_TOLD})|{_POLITE}(?P<asked>{_MAY})[ ,]+{_POLITE}(?:{_INFINITIVE})),?(?: (?:{_KIND}|mal|again|completely),?)*(?: (?:{_THAT}))?(?= )"
)
_FROM_MEMORY = re.compile(
    rf"{_POLITE}(?:(?P<asked>{_MAY}) )?{_POLITE}(?:delete|erase|remove|clear|losche|loschen|borra|elimina|efface|supprime|effacer) (?P<what>.+?)"
    r" (?:from (?:your|the) memory|aus (?:deinem|dem|ihrem) gedachtnis|de tu memoria|de ta memoire)(?: (?:please|bitte|loschen))?[ .!?]*"
)
_NOTHING_SAID = re.compile(
    r"me not\b|(?:it|it all|this|that|me|him|them|her|all|everything|es|das|alles|mich|eso|esto|todo|ca|cela|tout|lo|isso|tutto|это)"
    r"(?: for now| then| now| please| bitte)?"
    r"(?:$|[,.;:!?…])|(?:not|never|nicht|nie|niemals|no|nunca|jamas|pas|jamais|non|mai|nao|не)\b"
)
_JUST_SAID = re.compile(
    r"(?:what|everything|the thing) (?:that )?i(?:'ve| have)? just (?:said|told you|wrote)|(?:my|the) (?:last|previous) (?:message|turn|sentence|question)"
    r"|was ich (?:dir |ihnen )?(?:gerade|eben|zuletzt)|(?:meine|die) letzte nachricht|lo que (?:te )?acabo de|mi ultimo mensaje"
    r"|ce que je viens de|mon dernier message"
)
_REQUEST = 600  # characters: a longer text is pasted, not asked


@dataclass(frozen=True, slots=True)
class Forget:
    """A request to forget: the words that say what, as written; `last`: the turn before this one is meant."""

    what: str
    last: bool = False


def forget(text: str) -> Forget | None:
    """What a message asks to be forgotten; None for every other message. English, German, Spanish and French; Italian, Portuguese and Russian in part."""
    folded = " ".join(fold(text).split())
    if len(folded) > _REQUEST:
        return None
    words, from_memory = text.split(), _FROM_MEMORY.fullmatch(folded)
    if from_memory:
        before, named = folded[: from_memory.start("what")], from_memory["what"]
        start = len(before.split())
        return Forget(" ".join(words[start : start + len(named.split())]))
    match = _FORGET.match(folded)
    rest = folded[match.end() :].strip() if match else ""
    if match is None or not rest or _NOTHING_SAID.match(rest):
        return None
    if rest.endswith("?") and not match["asked"]:
        return None  # “forget the budget, how tall is it?” asks for something else
    what = " ".join(words[len(folded[: match.end()].split()) :]).strip(" ,.!?;:")
    return Forget(what, bool(_JUST_SAID.match(rest))) if what else None


def detect(text: str, at: datetime, zone: str) -> Cues:
    """The cues of an input that arrived at `at` (aware) from someone in the IANA `zone`. An unknown zone raises ZoneInfoNotFoundError."""
    folded = " ".join(fold(text).split())
    head = folded[:400]  # cues stand where a message begins or in a short one; a pasted text has none of its writer's
    continuation = folded if len(folded) <= 80 and _WHOLE.fullmatch(folded) else ""
    if not continuation and (opening := _OPENING.match(head)):
        continuation = opening.group().strip()
    fresh, returning = _FRESH.search(head), _RETURNING.search(head)
    temporal = None
    if _TALK.search(head):
        temporal = next((window for window in windows(head, at, zone) if window.start <= at), None)
    return Cues(
        continuation="" if fresh or returning or temporal else continuation,
        temporal=temporal,
        returning=returning.group().strip() if returning else "",
        fresh=fresh.group().strip(" ,.:") if fresh else "",
        pronoun=bool(_PRONOUN.search(head)),
        opener=bool(_OPENER.match(head)),
        answer=bool(_ANSWER.search(head)),
        greeting=bool(_GREETING.match(head)),
    )


# --- Times -------------------------------------------------------------------------------------------------------------

_NUMBERS = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "couple of": 2,
    "a couple of": 2,
    "few": 3,
    "a few": 3,
    "several": 4,
}
_N = r"(?P<n>\d{1,3}|an?(?: couple of| few)?|one|two|three|four|five|six|seven|eight|nine|ten|couple of|few|several)"
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY_NAMES = {
    **{name: i for i, name in enumerate(_DAYS)},
    **{name: i for i, name in enumerate("montag dienstag mittwoch donnerstag freitag samstag sonntag".split())},
    **{name: i for i, name in enumerate("lunes martes miercoles jueves viernes sabado domingo".split())},
    **{name: i for i, name in enumerate("lundi mardi mercredi jeudi vendredi samedi dimanche".split())},
}
_WEEKDAY = "|".join(_DAY_NAMES)
_MONTHS = "january february march april may june july august september october november december".split()
_MONTH = r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
_MONTH_ELSEWHERE = (
    "januar|februar|marz|juni|juli|dezember|oktober|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre"
    "|janvier|fevrier|mars|avril|mai|juin|juillet|aout|septembre|octobre|novembre|decembre"
)
_PARTS = {"morning": (5, 12), "afternoon": (12, 18), "evening": (17, 24), "night": (18, 28)}
_YESTERDAY = "yesterday|gestern|ayer|hier|ieri|ontem|вчера|昨天|昨日|きのう|어제|امس|אתמול"
_BEFORE_YESTERDAY = "(?:the )?day before yesterday|vorgestern|anteayer|avant-hier|l'altro ieri|anteontem|позавчера|前天|おととい|一昨日|그저께|اول امس|שלשום"
_TODAY = "earlier today|today|heute|hoy|aujourd'hui|oggi|hoje|сегодня|今天|今日|오늘|اليوم|היום"
_LAST_WEEK = (
    "last week(?!end)|letzte woche|la semana pasada|la semaine derniere|la settimana scorsa"
    "|semana passada|на прошлой неделе|上周|上星期|上週|先週|지난주|지난 주|الاسبوع الماضي|בשבוע שעבר"
)
_LAST_MONTH = "last month|letzten monat|el mes pasado|le mois dernier|上个月|上個月|先月|지난달|지난 달"
_AGO_ELSEWHERE = (
    r"vor (?P<n1>\d{1,3}) tagen|hace (?P<n2>\d{1,3}) dias|il y a (?P<n3>\d{1,3}) jours|(?P<n4>\d{1,3}) ?(?:天前|日前|일 전)|(?P<n5>\d{1,3}) (?:дня|дней) назад"
)
_UNITS = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1)}

_LONG = 4_000  # characters that are looked through for times: a whole almanac is nobody's return
Resolver = Callable[[re.Match[str], datetime, ZoneInfo], tuple[datetime, datetime] | None]


def _instant(day: date, zone: ZoneInfo, hour: int = 0) -> datetime:
    """The wall-clock hour of a local day as an instant. Where clocks skip it, the moment they were set forward."""
    return datetime.combine(day + timedelta(days=hour // 24), time(hour % 24), tzinfo=zone).astimezone(UTC)


def _days(first: date, count: int, zone: ZoneInfo) -> tuple[datetime, datetime]:
    return _instant(first, zone), _instant(first + timedelta(days=count), zone)


def _part(day: date, part: str | None, zone: ZoneInfo) -> tuple[datetime, datetime]:
    if not part:
        return _days(day, 1, zone)
    first, last = _PARTS[part]
    return _instant(day, zone, first), _instant(day, zone, last)


def _month(day: date, back: int, zone: ZoneInfo) -> tuple[datetime, datetime]:
    index = day.year * 12 + day.month - 1 - back
    first, after = date(index // 12, index % 12 + 1, 1), date((index + 1) // 12, (index + 1) % 12 + 1, 1)
    return _instant(first, zone), _instant(after, zone)


def _today(match: re.Match[str], local: datetime, zone: ZoneInfo) -> tuple[datetime, datetime]:
    return _part(local.date(), match.groupdict().get("part"), zone)


def _tonight(match: re.Match[str], local: datetime, zone: ZoneInfo) -> tuple[datetime, datetime]:
    day = local.date() if match.group() == "tonight" else local.date() - timedelta(days=1)
    return _part(day, "night", zone)


_GERMAN = re.compile(r"\b(?:ist|und|ich|wir|das|die|der|haben|hast)\b")


def _yesterday(match: re.Match[str], local: datetime, zone: ZoneInfo) -> tuple[datetime, datetime] | None:
    if match.group() == "hier" and _GERMAN.search(match.string):  # yesterday in French, here in German
        return None
    return _part(local.date() - timedelta(days=1), match.groupdict().get("part"), zone)


def _days_back(back: int, count: int = 1) -> Resolver:
    return lambda match, local, zone: _days(local.date() - timedelta(days=back), count, zone)


def _weekday(match: re.Match[str], local: datetime, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """The most recent such day before today: what was said “on Monday” on a Monday was said a week ago."""
    back = (local.weekday() - _DAY_NAMES[match["day"] or match["day2"]] - 1) % 7 + 1
    return _part(local.date() - timedelta(days=back), match.groupdict().get("part"), zone)


def _week(back: int) -> Resolver:
    return lambda match, local, zone: _days(local.date() - timedelta(days=local.weekday() + 7 * back), 7, zone)


def _weekend(match: re.Match[str], local: datetime, zone: ZoneInfo) -> tuple[datetime, datetime]:
    back = local.weekday() + 2 if local.weekday() < 5 or "last" in match.group() else local.weekday() - 5
    return _days(local.date() - timedelta(days=back), 2, zone)


def _ago(match: re.Match[str], local: datetime, zone: ZoneInfo) -> tuple[datetime, datetime] | None:
    written = match["n"]
    n = int(written) if written.isdigit() else _NUMBERS[written]
    unit = match["unit"]
    vague = any(word in written for word in ("few", "couple", "several"))
    if unit in _UNITS:
        moment = (local.astimezone(UTC)) - n * _UNITS[unit]
        slack = max(n * _UNITS[unit] / 4, _UNITS[unit] / 2)
        return moment - slack, moment + slack
    if unit == "day":
        return _days(local.date() - timedelta(days=n + vague), 1 + 2 * vague, zone)
    if unit == "week":
        return _days(local.date() - timedelta(days=7 * n + 3), 7, zone)
    if n * (12 if unit == "year" else 1) > 12 * (local.year - 1):
        return None
    return _month(local.date(), n * (12 if unit == "year" else 1), zone)


def _ago_elsewhere(match: re.Match[str], local: datetime, zone: ZoneInfo) -> tuple[datetime, datetime]:
    n = int(next(group for group in match.groups() if group))
    return _days(local.date() - timedelta(days=n), 1, zone)


def _year(match: re.Match[str], local: datetime, zone: ZoneInfo) -> tuple[datetime, datetime]:
    return _instant(date(local.year - 1, 1, 1), zone), _instant(date(local.year, 1, 1), zone)


def _day_of_month(match: re.Match[str], local: datetime, zone: ZoneInfo) -> tuple[datetime, datetime] | None:
    """“On the 3rd”: the most recent third that isn't ahead."""
    number, year, month = int(match["dom"]), local.year, local.month
    for _ in range(12):
        try:
            day = date(year, month, number)
        except ValueError:
            day = date.max
        if day <= local.date():
            return _days(day, 1, zone)
        year, month = (year, month - 1) if month > 1 else (year - 1, 12)
    return None


_VERB_MAY = re.compile(r" (?:be|have|not|also|help|work|need|cause|take|seem|look|vary|differ|well|still|only|\w+ly)\b")


def _explicit(match: re.Match[str], local: datetime, zone: ZoneInfo) -> tuple[datetime, datetime] | None:
    if match.group().endswith(" may") and _VERB_MAY.match(match.string, match.end()):
        return None
    base = local.replace(tzinfo=None)
    # Past is preferred: what one returns to has been. Day before month where both could be, as most of the world writes.
    parsed = dateparser.parse(
        re.sub(r"(?<=\d)(?:st|nd|rd|th)\b|\bthe |\bof ", "", match.group()),
        languages=["en", "de", "es", "fr", "it", "pt"],
        settings={"RELATIVE_BASE": base, "PREFER_DATES_FROM": "past", "DATE_ORDER": "DMY", "PREFER_DAY_OF_MONTH": "first"},
    )
    return None if parsed is None or not 1 < parsed.year < 9999 else _days(parsed.date(), 1, zone)


def _iso(match: re.Match[str], local: datetime, zone: ZoneInfo) -> tuple[datetime, datetime] | None:
    try:
        return _days(date.fromisoformat(match.group()), 1, zone)
    except (ValueError, OverflowError):
        return None


def _in_month(match: re.Match[str], local: datetime, zone: ZoneInfo) -> tuple[datetime, datetime]:
    month = next(i for i, name in enumerate(_MONTHS, 1) if name.startswith(match["month"][:3]))
    year = int(match["year"]) if match["year"] else local.year - (month > local.month)
    return _month(date(year, month, 1), 0, zone)


_RULES: tuple[tuple[re.Pattern[str], Resolver], ...] = tuple(
    (re.compile(pattern), resolve)
    for pattern, resolve in (
        (rf"(?:{_BEFORE_YESTERDAY})", _days_back(2)),
        (r"\b(?:last night|tonight)\b", _tonight),
        (rf"(?<!\w)(?:{_YESTERDAY})(?:(?: |'s )(?P<part>morning|afternoon|evening|night))?", _yesterday),
        (r"\bthis (?P<part>morning|afternoon|evening)\b", _today),
        (rf"(?<!\w)(?:{_TODAY})(?!\w)", _today),
        (rf"\b{_N} (?P<unit>minute|hour|day|week|month|year)s? (?:ago|back|earlier|before)\b", _ago),
        (rf"(?<!\w)(?:{_AGO_ELSEWHERE})", _ago_elsewhere),
        (r"\bthe other day\b", _days_back(7, 7)),
        (rf"(?<!\w)(?:{_LAST_WEEK})", _week(1)),
        (r"\b(?:this|earlier this) week\b", _week(0)),
        (r"\b(?:last|over the|on the|at the|this) weekend\b", _weekend),
        (rf"(?<!\w)(?:{_LAST_MONTH})", lambda match, local, zone: _month(local.date(), 1, zone)),
        (r"\b(?:this|earlier this) month\b", lambda match, local, zone: _month(local.date(), 0, zone)),
        (r"\blast year\b", _year),
        (r"\b\d{4}-\d{2}-\d{2}\b", _iso),
        (
            rf"\b(?:the )?\d{{1,2}}(?:st|nd|rd|th)? (?:of |de )?(?:{_MONTH}|{_MONTH_ELSEWHERE})\b\.?(?:,? (?:de )?\d{{4}}\b)?"
            rf"|\b{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}}\b)?|\b\d{{1,2}}[/.]\d{{1,2}}[/.]\d{{4}}\b",
            _explicit,
        ),
        (
            rf"\b(?:on|last|am|letzten|el|le|this past|since|from) (?:the )?(?P<day>{_WEEKDAY})(?:(?: |'s )(?P<part>morning|afternoon|evening"
            rf"|night))?\b|\b(?P<day2>{_WEEKDAY}) (?:dernier|pasado)\b",
            _weekday,
        ),
        (r"\bon the (?P<dom>\d{1,2})(?:st|nd|rd|th)\b(?! (?:of |floor|page|day|time|one|line))", _day_of_month),
        (rf"\b(?:in|during|back in|last|since) (?P<month>{_MONTH})\b(?: (?P<year>\d{{4}}))?", _in_month),
    )
)


def windows(text: str, at: datetime, zone: str) -> Iterator[Window]:
    """The times a text names, in the order they stand in it, as windows relative to `at` in the IANA `zone`; overlapping mentions once.

    Names of days and months without a year mean the latest past ones. Raises ValueError for a naive `at`."""
    if at.tzinfo is None:
        raise ValueError("A time without a zone can't be related to a day; pass an aware datetime.")
    area = ZoneInfo(zone)
    local = at.astimezone(area)
    folded = " ".join(fold(text[:_LONG]).split())
    found: dict[int, Window] = {}
    taken = bytearray(len(folded))  # 1 where a mention stands already
    for pattern, resolve in _RULES:
        for match in pattern.finditer(folded):
            start, end = match.span()
            if 1 in taken[start:end]:
                continue
            try:
                span = resolve(match, local, area)
            except (ValueError, OverflowError):  # beyond the calendar: “March 0000”, “in December 9999”, the day before the first
                continue
            if span is not None:
                found[start] = Window(*span, match.group())
                taken[start:end] = b"\1" * (end - start)
    yield from (window for _, window in sorted(found.items()))
