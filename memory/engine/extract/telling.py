"""What of a turn tells something: each clause of the user with how it is meant, in any language.

A model invents facts where there are none. So a fact needs a clause that tells: not thanks, greetings, reactions, questions or requests. English goes
by the rules of `language`; of other languages only clear statements count (somebody speaks of themself, a number, a full third-person sentence).
"""

# ruff: noqa: SIM905 - lists of words read best as text
from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from memory.engine import terms
from memory.engine.extract import language, values

Meant = Literal["told", "planned", "supposed", "asked", "requested", "nothing"]
TELLING: frozenset[Meant] = frozenset({"told", "planned", "supposed"})


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause of a user's turn, on one line, and how it is meant."""

    text: str
    meant: Meant

    @property
    def tells(self) -> bool:
        return self.meant in TELLING


def clauses(text: str) -> list[Clause]:
    """Every clause of what a user says (quoted text, pasted memory and reasoning left out), in order."""
    return [Clause(clause, meant(clause)) for clause in language.clauses(text)]


def meant(clause: str) -> Meant:
    """How one clause is meant."""
    if not any(character.isalnum() for character in clause):
        return "nothing"
    return _english(clause) if language.english(clause) and not _ELISION.match(clause) else _elsewhere(clause)


_ELISION = re.compile(r"^(?:j|l|d|c|n|m|t|s|qu|un|dell|all|nell)['’](?!(?:m|s|d|t|ll|ve|re)\b)", re.IGNORECASE)  # “J'habite” has an English mark and is none


# --- English -----------------------------------------------------------------------------------------------------------------

_COURTESY = re.compile(
    r"\b(?:thanks|thank you|thx|cheers|much appreciated|appreciate (?:it|that|you|your|the)|hello|hi there|good (?:morning|afternoon|evening|night)|bye|"
    r"goodbye|see you|talk (?:to you )?(?:soon|later|tomorrow)|take care|no worries|never ?mind|sorry|my bad|apologies|excuse me|congrats|congratulations|"
    r"well done|good (?:job|work|point|idea|one|question|to know|call|luck)|nice (?:one|work|job)|great (?:job|work|idea|point|stuff|news)|lol|haha\w*|"
    r"hehe\w*|wow|omg|yay|hooray|whoa|ugh|meh|oops|hmm+|you(?:'re| are) (?:the best|right|welcome|great|awesome|amazing|so|too|very|a)\b|"
    r"that(?:'s| is| was| sounds| looks| makes| helps| works| will do| would be)|(?:this|it) (?:sounds|looks|makes|helps|works)|"
    r"exactly|indeed|of course|sounds|makes sense|got it|understood|noted|(?:blew|blows|blown|read) my mind|what a|"
    r"(?:have|enjoy) (?:a|your) (?:nice|good|great|lovely|wonderful)?\s*(?:day|evening|weekend|night|one|time)|happy (?:birthday|"
    r"new year|holidays)|merry christmas)",
    re.IGNORECASE,
)
_REACTION = re.compile(
    r"^(?:i|we)(?:'m|'ve|'ll|'d)?\s+(?:really |totally |completely |absolutely |so |just |also |do |did |am |was |will |would |have |"
    r"had |can(?:not|'t)? |don't |didn't )*"
    r"(?:see|agree|disagree|understand|understood|get (?:it|that|you)|got (?:it|that|you)|guess so|mean|wonder|think so|hope so|"
    r"suppose so|know|knew|believe (?:you|so|that|it)|"
    r"appreciate|love (?:it|that|this|the idea|your)|like (?:it|that|this|the|your)|hate (?:it|that|this)|look(?:ing)? forward|wait|hear you|thank|"
    r"trust you|doubt (?:it|that)|hope (?:it|that|you|this)|try (?:it|that|this)|tried (?:it|that)|do (?:it|that|so)|check (?:it|that)|read (?:it|that)|"
    r"happy|glad|sad|excited|nervous|confused|lost|stuck|curious|grateful|impressed|surprised|sure|not sure|ready|fine|ok|okay|good|"
    r"great|back|here|done(?!\s+(?:an?|the|some|my|our|\d))|bored|hungry|tired|sorry|"
    r"stand corrected|give up|need (?:help|your|you|more|a (?:minute|moment|second|break)|some (?:help|advice|time|ideas))|want you|"
    r"have (?:a|another|one more|some|two|no|no further|"
    r"any) (?:quick |more |further |other )*questions?|"
    r"have no idea|asked|ask|say|said|forgot|forget|remember|listening|thinking|laughing|kidding|joking|impressive)\b(?!\s+(?:at|with|"
    r"allergic|to (?:move|start|buy)))",
    re.IGNORECASE,
)
# Who speaks of themself: “break it down for me” doesn't.
_PERSON = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|my|mine|we|we're|we've|we'll|our|ours)\b", re.IGNORECASE)
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|will|can|can't|cannot|doesn't|don't|won't|hasn't|haven't|costs?|says?|said|isn't|aren't|wasn't|didn't|"
    r"\w{3,}ed)\b|\w's (?:a|an|the|in|on|at|now|not|been|called)\b",
    re.IGNORECASE,
)
_THING_DOES = re.compile(
    r"^(?:(?:the|my|our|his|her|their|[A-ZÀ-Þ][\w-]+'s)\s+(?:[\w-]+\s+){1,3}?|[A-ZÀ-Þ][a-zà-þ]+\s+)[a-z]{2,}(?<!s)(?<!ou)s\s+\w", re.IGNORECASE
)
# What stays so, or was done: a person may come back to it.
LASTING = re.compile(
    r"'ve\b|\b(?:prefer|like|love|hate|dislike|enjoy|avoid|always|never|usually|allergic|intolerant|own|have|has|use|uses|collect|"
    r"play|speak|study|studied|can't stand|fan of|afraid of|interested in|believe|want|need|decided|agreed|booked|ordered|"
    r"bought|moved|started|stopped|quit|finished|signed|hired|met|visited|bake|cook|live|work|sleep|drink|eat|drive|ride|"
    r"teach|wear|pay|keep|keeps|stays?|goes|faces|belongs)\b",
    re.IGNORECASE,
)
_SUBJECT = re.compile(r"\b(?:i|we)(?:'\w+)?\s+\w", re.IGNORECASE)
# “I'm a nurse”, “we're from Porto”, “I'm pregnant”; “I'm only here for the jokes” says where one is in the talk.
_AM = re.compile(
    r"\b(?:i'm|i am|we're|we are|i was|we were)\s+(?:(?:also|now|both|still|originally|currently|not|no longer|very|severely)\s+)*"
    r"(?:(?:an?|the|from|allergic|based|married|engaged|"
    r"intolerant|afraid|interested|good|bad)\s|(?!\w+ing$)[\w-]+$)",
    re.IGNORECASE,
)
_SETTLED = re.compile(r"\b(?:go with|went with|call it|settle on|stick with|take)\s+(?:the\s+)?[\"“]?[A-ZÀ-Þ]")
_EXACT_KINDS: tuple[values.ValueType, ...] = ("money", "date", "time", "measure", "phone", "email", "link")
_YOU = re.compile(r"\b(?:you|your|yours|yourself)\b", re.IGNORECASE)
# “Make the answer shorter”, “put it in a table”: about the talk itself, not about anything in the world.
_ABOUT_TALK = re.compile(
    r"\b(?:answer|reply|response|text|paragraph|sentence|wording|tone|style|table|bullet|bullets|points?|list|summary|version|draft|"
    r"title|format|english|german|"
    r"french|spanish|words|shorter|longer|simpler|formal|casual|code|example|examples|again|instead|another|more|less|words?)\b",
    re.IGNORECASE,
)


# “I'm loving this”, “it makes sense to me”: of what was said before, nothing one could come back to.
_POINTS = re.compile(r"\b(?:this|that|it|them|those|these|idea|clue|sense|point|question|way)\b(?!\s+(?:is|was|will)\b)", re.IGNORECASE)
# “Sometimes I feel like …”, “I laughed out loud”, “I have no words”: how one takes what was said, whatever word opens it.
_TAKES = re.compile(
    r"^(?:(?:now|sometimes|honestly|okay|so|oh|right now)\s+)?(?:i|we)(?:'m|'ve|'ll| am)?\s+(?:(?:just|really|almost|actually|still)\s+)*(?:"
    r"laugh(?:ed|ing)?|smil(?:e|ed|ing)|giggl\w+|chuckl\w+|feel like|follow(?:\s+(?:so far|you|that|this|along)|$)|all ears|speechless|curious|intrigued|"
    r"amazed|"
    r"have no (?:words|clue|idea|doubt)|leave it (?:there|here|at that)|"
    r"in (?:a|the) (?:\w+ )?mood|killing time|couldn't agree|(?:would|'d) love to be able|take your word|sleep on it|get back to you|skip (?:it|this|that))\b",
    re.IGNORECASE,
)
# Of life or people in general, or of the talk itself: nothing about anybody's own world.
_GENERAL = re.compile(r"^(?:life|nothing|time|people|everyone|everybody|nobody|things|nature|the (?:world|weather|internet|future))\b", re.IGNORECASE)
_TALK_ITSELF = re.compile(
    r"^(?:the|your|this|that)\s+(?:\w+\s+){0,2}(?:answer|reply|response|explanation|version|draft|attempt|tone|style|wording|phrasing|joke|example|"
    r"suggestion|ending|conclusion|introduction|(?:opening|middle|first|second|last|closing)\s+(?:part|line|sentence|paragraph|point|half))\s+(?:still\s+)?"
    r"(?:is|are|was|were|reads?|sounds?|looks?|seems?|feels?|works?|helps?|makes?)\b",
    re.IGNORECASE,
)
_PHRASE = re.compile(
    r"^(?:many thanks|(?:fine|okay|ok|good) (?:by|with) me|(?:n?either|both|any) (?:is|are|of them is|would be) (?:fine|ok|okay|good)|"
    r"fingers crossed|dear|here we go)\b",
    re.IGNORECASE,
)
_OWN = re.compile(r"\b(?:my|our)\s+(?!liking|opinion|view|mind|taste|day|god|goodness)[a-z]", re.IGNORECASE)
# “Just as I feared”, “Makes perfect sense to me”, “That reminds me of …”: no subject, or only what was said before.
_FRAGMENT = re.compile(
    r"^(?:(?:just |exactly )?(?:as|like|what|how)\s|(?:makes?|sounds?|looks?|feels?|reads?|seems?|works?)\s|(?:that|this)\s+\w+|too (?:many|much|little|few)\s|"
    r"much obliged|done\b|(?:happy|merry)\s|\w+ first\b|not\s|almost\b|i guess$)",
    re.IGNORECASE,
)
_COUNTERFACTUAL = re.compile(r"\bif (?:i|we|only|it|everything|you) (?:had|were|was|could|won)\b|\bif \w+ were no object\b", re.IGNORECASE)
# “Quiz me on …”: a bare verb and whom it is done for.
_FOR_ME = re.compile(
    r"^(?:please\s+)?don't\s|^(?:please\s+)?(?P<verb>[a-z]+)\s+(?:up\s+)?(?:me|us)\b|^(?:sum up|recap|rephrase|reword|paraphrase|simplify)\b", re.IGNORECASE
)
_CURIOUS = re.compile(
    r"\b(?:like|love|want|need|curious|eager|dying)\s+to\s+(?:know|see|hear|learn|understand|ask|talk|discuss|find out)\b|\bwant you to\b", re.IGNORECASE
)


def _english(clause: str) -> Meant:
    mood = language.mood(clause)
    if mood in ("asked", "requested"):
        return "asked" if mood == "asked" else "requested"
    bare = language.strip_lead(clause).rstrip(" .!")
    if _CURIOUS.search(bare) or _asks_for(bare):
        return "requested"
    exact = _exact(bare)
    if _COUNTERFACTUAL.search(bare) or small_talk(bare):
        return "nothing"
    if language.DECIDING.match(bare):
        settled = exact or (bool(_SETTLED.search(bare)) and not _ABOUT_TALK.search(bare))
        return "told" if settled else "requested"
    named = exact or any(map(str.isdigit, bare)) or bool(_OWN.search(bare) or terms.entity_spans(bare[:1].lower() + bare[1:]))
    polite = bool(_COURTESY.search(bare) or _COURTESY.match(clause)) and not (exact and _VERB.search(bare))
    if (polite or (_REACTION.match(bare) and not named)) and not _says_more(bare):
        return "nothing"
    content = terms.content_terms(bare)
    if not named and (mood == "supposed" or _FRAGMENT.match(bare)):
        return "nothing"
    if bare.lower().startswith("let's "):
        return "requested"
    person, does = bool(_PERSON.search(bare)), bool(_VERB.search(bare) or _THING_DOES.match(bare)) or any(map(language.past_verb, bare.split()))
    opening = bare.split()[0] if bare.split() else ""
    elided = language.past_verb(opening) and len(bare.split()) > 2 and (exact or bool(terms.entity_spans(bare)) or "yesterday" in bare.lower())
    if _YOU.search(bare) and not (person and (exact or len(content) > 3)):
        return "nothing"
    said = (
        (person and bool(content) and (named or not _REACTION.match(bare)) and (_lasts(bare) or (named and (does or bool(_SUBJECT.search(bare))))))
        or (does and len(content) >= 2)
        or elided
        or (exact and bool(content))
    )
    if not said or (_POINTS.search(bare) and len(content) <= 2 and not exact and not terms.entity_spans(bare)):
        return "nothing"
    return "told" if mood == "stated" else "planned" if mood == "planned" else "supposed"


_NO_VERB = frozenset("between to for with of like unlike besides beside near behind above below around from about only just all both".split())


def _asks_for(bare: str) -> bool:
    match = _FOR_ME.match(bare)
    verb = ((match["verb"] if match else "") or "").lower()
    return match is not None and verb not in _NO_VERB and not language.past_verb(verb)


def _lasts(bare: str) -> bool:
    """Whether a person says of themself what lasts or what they did, not how they are taking the talk."""
    return bool(LASTING.search(bare) or _AM.search(bare)) or any(map(language.past_verb, bare.split()))


def _exact(bare: str) -> bool:
    return any(values.find_all(bare, kind) for kind in _EXACT_KINDS)


def small_talk(bare: str) -> bool:
    """Whether an English clause, without the words that only open it, is talk about the talk, about life, or a set phrase: neither rule nor model reads it."""
    if _PHRASE.search(bare) or _asks_for(bare):
        return True
    general = (_GENERAL.match(bare) or _TALK_ITSELF.match(bare)) and not terms.entity_spans(bare[1:])
    return not _exact(bare) and bool(general or _TAKES.match(bare))


_MORE = re.compile(
    r"\b(?:my|our)\s+[a-z]+(?:\s+[a-z]+){0,3}\s+(?:is|are|was|were|has|lives?|works?|starts?|costs?)\b|\bI(?:'m| am) (?:allergic|vegan|vegetarian)\b",
    re.IGNORECASE,
)


def _says_more(bare: str) -> bool:
    """Whether a clause that thanks or reacts tells something beside it: “happy birthday to my sister is …” hardly, “glad my flight is on Monday” does."""
    return bool(_MORE.search(bare))


# --- Other languages ---------------------------------------------------------------------------------------------------------

# Folded words (accents dropped). Who says one of these is only polite, or reacts.
_POLITE = frozenset(
    """danke dankeschon bitte hallo guten tschuss servus moin gruss prima toll super klasse genau stimmt wunderbar perfekt verstanden alles klar okay
    entschuldigung sorry gerne
    cool spannend interessant witzig schade wow haha gut nett schon spitze fantastisch grossartig
    merci bonjour bonsoir salut revoir bonne parfait super genial excellent exactement daccord accord desole pardon bravo formidable magnifique
    interessant oui non
    gracias hola adios buenos buenas perfecto genial vale claro excelente estupendo entendido perdon bien maravilloso interesante bueno ayudado
    grazie ciao buongiorno buonasera arrivederci perfetto ottimo bene bello fantastico capito scusa prego esatto interessante
    obrigado obrigada ola tchau bom boa perfeito otimo legal entendi desculpa certo maravilha valeu
    geweldig fijn dank bedankt dankjewel hoi dag doei prima leuk mooi begrepen tack hej tak takk bra
    dziekuje dzieki czesc hej dobranoc swietnie super rozumiem przepraszam jasne
    спасибо привет здравствуйте пока отлично хорошо понятно супер класс извини извините ясно круто здорово ладно да нет благодарю
    tesekkurler tesekkur sagol merhaba selam gorusuruz harika tamam anladim peki guzel
    شكرا مرحبا اهلا السلام ممتاز رائع حسنا تمام عفوا نعم جميل תודה שלום היי מעולה סבבה הבנתי יופי
    धन्यवाद शुक्रिया नमस्ते ठीक अच्छा बढ़िया ευχαριστω γεια τελεια ωραια дякую привіт diky dekuji ahoj multumesc salut koszonom szia
    terima kasih halo bagus cam on xin chao""".split()
)  # fmt: skip
_POLITE_DENSE = re.compile(
    r"谢谢|多谢|感谢|辛苦|你好|您好|早上好|晚安|晚上好|再见|拜拜|好的|好吧|不错|太好了|太棒了|明白|知道了|了解|没问题|没关系|不知道|没想到|对不起|哈哈|原来如此|有道理|厉害|很有意思|真有趣|"
    r"ありがと|どうも|こんにち|こんばん|おはよう|さようなら|おやすみ|すごい|いいね|なるほど|了解|わかりました|分かりました|わかった|承知|すみません|ごめん|助かり|勉強になり|お疲れ|面白い|よかった|完璧|"
    r"감사|고마|고맙|안녕|좋아요|좋네|좋은 생각|알겠|이해했|대단|멋지|괜찮|죄송|미안|수고|ㅋㅋ|ㅎㅎ|재미있|완벽|ขอบคุณ|สวัสดี|"
    r"धन्यवाद|शुक्रिया|नमस्ते|बहुत अच्छा|बढ़िया|ठीक है"
)
_ASKED = re.compile(
    r"[?？؟¿;]\s*[\"'”’)»」]*\s*$|^¿|[吗呢嗎]\s*[。.]?$|(?:か|かな|かしら|でしょうか)[。.]?$|(?:까요?|나요|가요|니|을까|ㄹ까)[.]?$|什么|什麼|怎么|怎麼|为什么|哪里|哪儿|哪个|多少|能不能|"
    r"可不可以|是不是|有没有|何時|どうやって|どうして|なぜ|무엇|어떻게|왜 |언제|어디"
)
_ASKING_WORDS = frozenset(
    """was wer wen wem wie wo wohin woher wann warum wieso weshalb welche welcher welches wieviel kannst konntest konnen kann hast habt gibt ist
    sind hat soll sollte
    quel quelle quels quelles comment pourquoi quand ou qui que quoi combien peux pouvez pourrais est-ce estce
    que cual cuales como cuando donde quien cuanto cuantos puedes podrias hay
    cosa che come quando dove perche chi quale quali quanto puoi potresti
    qual quais onde quanto quem pode poderia porque
    wat wie hoe waar wanneer waarom welke kun kunt kan
    co jak gdzie kiedy dlaczego kto czy ktory ile mozesz
    что как где когда почему зачем кто какой какая какие сколько можешь можно ли расскажешь
    ne nasil neden nerede kim kac
    هل ما ماذا كيف متى اين لماذا من كم מה איך מתי איפה למה האם מי כמה
    क्या कैसे कब कहाँ कौन क्यों τι πως ποτε που γιατι vad hur var varför""".split()
)  # fmt: skip
_REQUEST = re.compile(
    r"^(?:(?:bitte|und|jetzt|nun|dann|s'il (?:te|vous) plait|por favor|per favore|пожалуйста|теперь|lutfen|prosze|alsjeblieft)[,\s]+)*(?:"
    r"schreib\w*|schlag|gib|gebt|geben|erklar\w*|zeig\w*|mach\w*|hilf|nenn\w*|ubersetz\w*|fass\w*|liste\w*|sag\w*|erzahl\w*|empfiehl|such\w*|"
    r"finde|kurz\w*|korrigier\w*|erstell\w*|vergleich\w*|"
    r"rechne\w*|weiter|stopp|warte|lies|andere|fuge|entwirf|plane|formulier\w*|nimm|"
    r"ecri[st]\w*|donne\w*|explique\w*|montre\w*|fais|faites|aide\w*|tradui\w*|resume\w*|dis|dites|raconte\w*|recommande\w*|trouve\w*|"
    r"corrige\w*|compare\w*|continue\w*|propose\w*|calcule\w*|redige\w*|cree\w*|ajoute\w*|"
    r"escrib\w*|dame|deme|explica\w*|muestra\w*|haz|haga|ayuda\w*|traduc\w*|resum\w*|dime|diga\w*|cuenta\w*|recomiend\w*|busca\w*|"
    r"corrige\w*|compara\w*|sigue|continua\w*|calcula\w*|crea|anade|enumera\w*|"
    r"scriv\w*|dammi|spiega\w*|mostra\w*|fammi|aiuta\w*|traduci|riassumi|dimmi|racconta\w*|consiglia\w*|trova\w*|correggi|confronta|calcola|elenca|"
    r"escreva|escreve|de-me|me (?:de|diga|explique|ajude|mostre)|explique|mostre|faca|ajude\w*|traduza|resuma|diga\w*|conte|recomende|liste|"
    r"schrijf|geef|vertel|leg|toon|maak|help|vertaal|vat|noem|zoek|ga verder|"
    r"napisz|daj|wyjasnij|pokaz|zrob|pomoz|przetlumacz|podsumuj|powiedz|polec|znajdz|"
    r"напиши\w*|дай\w*|объясни\w*|покажи\w*|сделай\w*|помоги\w*|переведи\w*|скажи\w*|расскажи\w*|посоветуй\w*|найди\w*|исправь\w*|продолжай|составь|сократи|"
    r"(?:bana|bize) .*\b(?:yaz|ver|anlat|acikla|goster|oner)|yaz\w*|ver|acikla\w*|goster\w*|yap|cevir\w*|ozetle|soyle|anlat|oner|devam|"
    r"اكتب|اعطني|اشرح|ساعدني|ترجم|لخص|قل|اخبرني|אתה יכול|כתוב|תכתוב|תן|הסבר|תסביר|תרגם|תספר|תן לי|ספר|skriv|ge mig|forklara|visa)(?:\W|$)"
)  # fmt: skip
_REQUEST_DENSE = re.compile(
    r"^请|^帮|^(?:再|先|就|也)?给我|帮我|告诉我|教我|^写|^列出|^翻译|^解释|^总结|^继续|^推荐|^比较|^改|ください|下さい|お願い|してほしい|てくれ|教えて|^続けて|書いて[。.]?$|して[。.]?$|해\s?줘|해\s?주세요|주세요|줘[.]?$|줄래|부탁|써줘|알려|"
    r"लिखो|लिखिए|बताओ|बताइए|दीजिए|करो|करें"
)
_SELF = frozenset(
    """ich mein meine meinen meinem meiner wir unser unsere unseren unserem
    je j mon ma mes notre nos nous
    yo mi mis nuestro nuestra soy estoy tengo vivo trabajo prefiero compre fui nací naci vivimos tenemos
    io mio mia miei mie sono ho abito vivo lavoro preferisco nostro nostra abbiamo
    eu meu minha meus minhas sou estou tenho moro trabalho prefiro nosso nossa temos
    ik mijn wij we onze
    mam jestem mieszkam pracuje moj moja moje mieszkamy
    я мой моя мое мои моего моеи моей мы наш наша наше нашу
    ben benim bizim oturuyorum yasiyorum calisiyorum
    انا عندي اسمي لدي اعيش اسكن اعمل אני שלי שלנו אנחנו
    मैं मेरा मेरी मेरे हमारा हम jag min mitt mina vi eγω μου""".split()
)  # fmt: skip
_SELF_DENSE = re.compile(r"我(?!不知道|知道|明白|懂|同意|觉得|想问|想知道|看看)|我们|私|僕|俺|わたし|うち(?:の|は)|저는|제 |제가|나는|내 |내가|우리")
_POINTING = re.compile(
    r"^(?:das|dies|es|so|c'est|ca|cela|eso|esto|es|e |questo|quello|isso|isto|dat|het|to |это|все|так|bu|هذا|זה|这|那|真|それ|これ|そう|그거|이거|정말|"
    r"यह|det)\b|^(?:这|那|真|それ|これ|そう|그거|이거|정말)"
)
_FEELS = re.compile(
    r"^(?:(?:jetzt )?verstehe ich|ich (?:freue|danke|verstehe|weiss|denke|glaube|liebe es|bin (?:froh|gespannt|begeistert|dankbar|verwirrt|mude|fertig|bereit|"
    r"unsicher|nicht sicher|wieder))|"
    r"je (?:vois|comprends|sais|pense|crois|t'aime|suis (?:content|contente|ravi|ravie|perdu|d'accord|desole|pret|curieux))|j'(?:adore|"
    r"ai compris|hesite|attends)|"
    r"(?:yo )?(?:entiendo|ya veo|creo|estoy (?:contento|contenta|feliz|listo|lista|de acuerdo|perdido|perdida|cansado))|"
    r"(?:io )?(?:capisco|penso|credo|sono (?:contento|contenta|felice|pronto|d'accordo))|ho capito|"
    r"(?:eu )?(?:entendo|acho|estou (?:feliz|pronto|de acordo))|ik (?:snap|begrijp|denk|ben (?:blij|benieuwd))|"
    r"я (?:понял|поняла|понимаю|знаю|думаю|рад|рада|согласен|согласна|готов|не знаю)|(?:ah )?(?:d'accord )?je comprends|me (?:encanta|"
    r"has|gusta mucho)|j'adore|adorei|das (?:hatte|wusste|habe) ich nicht|je ne savais pas|no lo sabia|non lo sapevo|nao sabia|"
    r"я не знала?|لم اكن|(?:ben )?(?:anladim|biliyorum|memnunum)|"
    r"mam (?:pytanie|nadzieje)|jestem (?:gotowy|zadowolony))\b"
)
_OPENING = frozenset("ah ach oh so also sehr vielen muchas mucho muchisimas mille beaucoup bien muito a et und y e dann aha ja oui si sim tak да а ну".split())
_FIRM = re.compile(r"(?<=[\w,] )[A-ZÀ-ÞА-Я]\w|[^\x00-\u04ff]")
_BEING = frozenset(
    """bin heisse wohne arbeite habe mein meine meinen suis habite travaille mon ma mes soy vivo trabajo tengo mi mis sono abito lavoro mio mia sou moro
    trabalho meu minha ben woon werk mijn jestem mieszkam pracuje moj moja живу работаю мои моя меня är bor min mitt""".split()
)
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")


def _elsewhere(clause: str) -> Meant:
    folded = " ".join(terms.fold(clause).split())
    words = [word for word in re.split(r"[^\w'-]+", folded) if word]
    dense = len(_HAN.findall(_POLITE_DENSE.sub("", clause)))
    digits = any(character.isdigit() for character in folded)
    if _ASKED.search(folded) or _ASKED.search(clause) or (words and words[0] in _ASKING_WORDS):
        return "asked"
    if _REQUEST.match(folded) or _REQUEST_DENSE.search(clause):
        return "requested"
    speaks = any(word in _SELF or (word.partition("'")[0] in ("j", "l") and word.startswith("j'")) for word in words) or bool(_SELF_DENSE.search(clause))
    polite = bool(_POLITE_DENSE.search(clause)) or any(word in _POLITE for word in words[:4])
    while words and (words[0] in _POLITE or words[0] in _OPENING):
        words = words[1:]
    rest = " ".join(words).lstrip("¡¿ ")
    if _FEELS.search(folded) or _FEELS.search(rest) or (polite and _POINTING.search(rest)):
        return "nothing"
    if polite and not (digits or (speaks and len(words) > 3) or dense > 14):
        return "nothing"
    if digits and (len(words) > 1 or dense > 3):
        return "told"
    # A name inside, something of one's own, what one is: “genau so hatte ich mir das vorgestellt” has none of it.
    firm = dense > 0 or bool(_FIRM.search(clause)) or any(word in _BEING for word in words)
    if speaks and firm and (len(words) > 2 or dense >= 4):
        return "told"
    statement = (firm and len(words) >= 4 and len(terms.content_terms(clause)) >= 2) or dense >= 7
    return "told" if statement and not _POINTING.search(folded) and not _POINTING.search(clause) else "nothing"
