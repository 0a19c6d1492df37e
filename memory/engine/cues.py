"""What a turn says about where it belongs: go on, back to then, something new, and how it is worded.

A *continuation cue* is a whole message or an opening that can only mean the matter at hand (“go on”, “in your last answer”).
A *temporal-return cue* names a time **and** the talk that took place then (“what we said on Monday”): “yesterday I ran 5 km” tells news and is none.
The other cues are features: they lean one way, and the ranker learns how far. Their phrases are data, by language: wording.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from memory.engine import wording
from memory.engine.terms import fold
from memory.engine.when import Window, windows
from memory.engine.wording import Wording


@dataclass(frozen=True, slots=True)
class Cues:
    """The cues of one input. `continuation`, `returning` and `fresh` hold the words that are the cue, empty when there is none."""

    continuation: str = ""
    """Can only mean the matter at hand: “go on”, “in your last answer”."""
    temporal: Window | None = None
    """Where on the timeline a temporal return looks."""
    returning: str = ""
    """Goes back to an earlier matter without saying when: “back to the kitchen”, “as we said before”."""
    fresh: str = ""
    """Announces another matter: “new question”, “by the way”."""
    pronoun: bool = False
    """Leans on something said before: “it”, “those”, “the other”."""
    opener: bool = False
    """Opens like a reply: “and”, “but”, “yes”."""
    answer: bool = False
    """Speaks of an answer or asks to redo it: “shorter”, “your list”, “again”."""
    greeting: bool = False
    """Opens with a greeting, as matters are opened."""
    additive: bool = False
    """Adds to the matter at hand: “one more thing”, “while we're at it”, “… as well?”"""
    topical: bool = False
    """Opens by naming its matter: “regarding the kitchen”, “as for Anna”, “Kitchen: …”"""
    reporting: bool = False
    """Tells news of somebody or something: “she called”, “heard back from the bank”, “the caterer says …”"""
    contrast: bool = False
    """Tells apart: “not hers, the other one”, “instead of”, “no longer”."""
    picking: bool = False
    """Points into a list or among options: “the second one”, “the one with the garden”, “number three”, “the cheaper one”."""
    reconsidering: bool = False
    """Goes back on an earlier choice: “changed my mind”, “on second thoughts”, “let's go back to the options”. It may return to an earlier state of a tree."""
    choosing: bool = False
    """Decides or books: “I'll take it”, “let's go with”, “that's the one”."""
    first_person: bool = False
    """Speaks of its writer: “I”, “our”. “Tell me” alone doesn't."""
    third_person: bool = False
    """Leans on a third person or thing: “she”, “it”, “these”. “It is raining” and “I think that …” don't."""
    question: bool = False
    """Asks: by its mark, a question word or the order of its words."""
    request: bool = False
    """Wants something done: “write …”, “could you …”, “I need a …”. It may be a question as well."""
    statement: bool = False
    """Neither asks nor wants anything done; False for an input without words."""
    introducing: bool = False
    """Brings in someone or something by name: “my sister Anna”, “a company called …”"""
    elliptical: bool = False
    """Can't be understood by itself: “and for two?”, “the blue”, “Tuesday works”."""


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
    worded = wording.read(text)
    question, request = worded.has("question") or "?" in worded.tokens, worded.has("request")
    return Cues(
        continuation="" if fresh or returning or temporal else continuation,
        temporal=temporal,
        returning=returning.group().strip() if returning else "",
        fresh=fresh.group().strip(" ,.:") if fresh else "",
        pronoun=bool(_PRONOUN.search(head)),
        opener=bool(_OPENER.match(head)),
        answer=bool(_ANSWER.search(head)),
        greeting=bool(_GREETING.match(head)),
        additive=worded.has("additive"),
        topical=worded.has("topical"),
        reporting=worded.has("reporting") and not question,
        contrast=worded.has("contrast"),
        picking=worded.has("picking"),
        reconsidering=worded.has("reconsidering"),
        choosing=worded.has("choosing"),
        first_person=worded.has("first_person"),
        third_person=worded.has("third_person"),
        question=question,
        request=request,
        statement=worded.words > 0 and not question and not request,
        introducing=worded.has("introducing"),
        elliptical=_elliptical(worded, request),
    )


_SHORT, _FEW = 8, 4  # words: the longest message that leans on others by its form, the longest that does by having no verb


def _elliptical(worded: Wording, request: bool) -> bool:
    """Whether a short message can't be understood alone: its language says so, or it has no verb and is a part of a sentence, or very
    short and no request. A message that names its matter or brings someone in stands alone."""
    if not 0 < worded.words <= _SHORT or worded.has("topical", "introducing"):
        return False
    return worded.has("elliptical") or (not worded.has("verb") and (worded.has("fragment") or (worded.words <= _FEW and not request)))
