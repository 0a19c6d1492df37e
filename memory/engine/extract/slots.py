"""Single-valued attributes out of a clause: “the kitchen budget is now €21,500” → kitchen|budget = €21,500.

A value without its attribute (“make it €21,500”, “12 March instead”) belongs to the latest slot of the same kind on the path, or to what the
assistant had just asked for. Where neither helps nothing is said: a wrong slot would replace a right value.
"""

# ruff: noqa: SIM905 - lists of words read best as text
from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memory.engine import revise
from memory.engine.extract import values
from memory.engine.extract.language import finish, strip_lead, third_person
from memory.engine.extract.values import Value, ValueType

USER = "user"


@dataclass(frozen=True, slots=True)
class Slotted:
    """A value in its slot: `subject` and `attribute` as words, `text` a sentence that stands by itself, `tag` one of the 14."""

    subject: str
    attribute: str
    value: str
    type: ValueType
    text: str
    tag: str = ""

    @property
    def slot(self) -> str:
        return revise.slot(self.subject, self.attribute)


@dataclass(frozen=True, slots=True)
class Sought:
    """A slot that a clause leans on: of one of these types (None: of any), of this attribute if one is given, of none to be skipped."""

    kinds: frozenset[ValueType] | None
    attribute: str = ""
    skip: frozenset[str] = frozenset()

    def is_met_by(self, one: Slotted) -> bool:
        return (self.kinds is None or one.type in self.kinds) and one.attribute not in self.skip and (not self.attribute or one.attribute == self.attribute)


@dataclass(frozen=True, slots=True)
class Setting:
    """What a clause is read against: the tree's topic, the slots filled along the path (oldest first), what the assistant just asked for.

    `before` answers for the slots filled earlier than those of `filled`."""

    topic: str = ""
    filled: Sequence[Slotted] = ()
    asked: str = ""
    before: Callable[[Sought], Slotted | None] | None = None

    def latest(self, sought: Sought) -> Slotted | None:
        """The slot filled last that is what is sought."""
        found = next((one for one in reversed(self.filled) if sought.is_met_by(one)), None)
        return self.before(sought) if found is None and self.before is not None else found


# --- The user's own attributes ---------------------------------------------------------------------------------------------

_PLACE = r"(?P<v>[A-ZÀ-Þ][\w'’.-]*(?:[ ,]+(?:de |da |do |la |of |the |am |an der )?[A-ZÀ-Þ][\w'’.-]*){0,3})"
_WHO = r"(?:i|we)(?:'ve|'m|'re| have| am| are)?"
_PERSONAL: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (attribute, re.compile(pattern))
    for attribute, pattern in (
        ("home_city", rf"(?i:\b{_WHO}\s+(?:(?:just|recently|now|finally|currently|also|still)\s+)*(?:live[ds]?|living|based|settled|moved|"
rf"relocated)\s+(?:back\s+)?(?:in|to|near)\s+){_PLACE}"),
        ("home_city", rf"(?i:^moved\s+(?:back\s+)?to\s+){_PLACE}"),
        ("hometown", rf"(?i:\b{_WHO}\s+(?:originally\s+)?(?:from|grew up in|was born in|were born in)\s+){_PLACE}"),
        ("workplace", r"(?i:\bi(?:'m|'ve| have| am)?\s+(?:(?:just|recently|now|currently|also|still)\s+)*(?:work|working|"
r"started(?: (?:a new job|working|work))?|joined|employed)\s+(?:(?:at|for|"
r"with)\s+)?(?:the\s+)?)(?P<v>[A-ZÀ-Þ][\w&'’.-]*(?:\s+(?:&\s+|of\s+|and\s+)?[A-ZÀ-Þ][\w&'’.-]*){0,3})"),
        ("workplace", r"(?i:\bmy (?:new |current )?(?:employer|workplace) is\s+(?:now\s+)?(?:the\s+)?)(?P<v>[A-ZÀ-Þ][\w&'’.-]*(?:\s+[A-ZÀ-Þ][\w&'’.-]*){0,3})"),
        ("job", r"(?i:\bi(?:'m|\s+now|\s+currently)?\s+work(?:ing)?\s+as\s+(?:an?\s+|the\s+)?)(?P<v>[a-zA-Z][\w -]{2,40}?)(?=\s+(?:at|"
r"for|in|with|and|since|now)\b|[,.;!]|$)"),
        ("name", r"(?i:\b(?:my name is|call me|my name's|i go by)\s+)(?P<v>[A-ZÀ-Þ][\w'’-]*(?:\s+[A-ZÀ-Þ][\w'’-]*){0,2})"),
        ("age", r"(?i:\bi(?:'m| am| just turned| turned)\s+(?:now\s+)?)(?P<v>\d{1,3})(?=\s+(?i:years old|now|last|this|today)\b|[,.!]|$)"),
        ("birthday", rf"(?i:\bmy birthday is\s+(?:on\s+)?)(?P<v>(?i:{values.DATE}|[A-Z]\w+))"),
        ("phone number", rf"(?i:\bmy (?:new |mobile |cell )*(?:phone|number|mobile|cell)(?: number)? is\s+(?:now\s+)?)(?P<v>{values.PHONE})"),
        ("email", rf"(?i:\bmy (?:new )?e-?mail(?: address)? is\s+(?:now\s+)?)(?P<v>{values.EMAIL})"),
        ("dietary_pref", r"(?i:\bi(?:'m| am|'ve become| have become| became| went)\s+(?:now\s+|(?:a |an )(?:strict )?)?)(?P<v>(?i:vegetarian|"
r"vegan|pescatarian|gluten[- ]free|lactose intolerant|flexitarian))\b"),
    )
)  # fmt: skip
_FAVORITE = re.compile(
    r"(?i:\b(?:my|our) (?:new |all-time |current )*favou?rite (?P<x>[a-z]+(?: [a-z]+)?) (?:is|are)(?: now|"
    r" still)? )(?P<v>[^,.;!]{2,60}?)(?=\s+(?:now|because|since|and|but)\b|[,.;!]|$)"
)
_CALLED = re.compile(
    r"(?i:\b(?:my|our) (?:new |little |older |younger |elder |big )*(?P<x>[a-z]+)(?:'s name is| is called| is named|"
    r"'s called|, called| named|, named) )(?P<v>[A-ZÀ-Þ][\w'’-]*(?: [A-ZÀ-Þ][\w'’-]*)?)"
)

_ELSEWHERE: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (attribute, re.compile(pattern))
    for attribute, pattern in (
        ("home_city", rf"(?i:\bich (?:wohne|lebe)(?: jetzt)? in |\bich bin nach |\bj'habite(?: maintenant)? à |\bje vis à |\bj'ai déménagé à |"
rf"\bvivo(?: ahora)? en |\bme mudé a |\bvivo a |\babito a |\bmoro em )(?:nach )?{_PLACE}"),
        ("home_city", r"我(?:现在)?住在(?P<v>[^，。！？\s]{1,12})|私は(?P<v2>[^、。！？\s]{1,12})に住んで"),
        ("name", r"(?i:\bich heiße |\bmein name ist |\bje m'appelle |\bme llamo |\bmi nombre es |\bmi chiamo |\bme chamo |"
r"\bmeu nome é )(?P<v>[A-ZÀ-Þ][\w'’-]*(?: [A-ZÀ-Þ][\w'’-]*)?)"),
        ("name", r"我(?:叫|的名字是)(?P<v>[^，。！？\s]{1,12})|私の名前は(?P<v2>[^、。！？\s]{1,12}?)です"),
        ("workplace", r"(?i:\bich arbeite(?: jetzt)? (?:bei|für) |\bje travaille (?:chez|pour) |\btrabajo (?:en|para) |\blavoro (?:presso|"
r"per) |\btrabalho (?:na|no|em) )(?P<v>[A-ZÀ-Þ][\w&'’.-]*(?:\s+[A-ZÀ-Þ][\w&'’.-]*){0,2})"),
        ("budget", rf"(?i:\b(?:das|unser|mein) budget (?:ist|beträgt|liegt)(?: jetzt)?(?: bei)? |\b(?:le|notre|"
rf"mon) budget est(?: maintenant)?(?: de)? |\b(?:el|nuestro|mi) presupuesto es(?: ahora)?(?: de)? |\bil (?:mio |"
rf"nostro )?budget è(?: di)? )(?P<v>(?i:{values.MONEY}))"),
    )
)  # fmt: skip

# --- Things and their attributes -------------------------------------------------------------------------------------------

_OWNER = r"(?:[Mm]y|[Oo]ur|[Tt]he|[Hh]is|[Hh]er|[Tt]heir|[Tt]his|[A-ZÀ-Þ][\w-]+(?:'s|s'))"
_NP = rf"(?P<np>{_OWNER}(?:\s+[\w&'/-]+){{1,7}}?|[A-Za-z][\w-]*(?:\s+(?:of|for|from)\s+{_OWNER}?)?(?:\s+[\w'-]+){{0,3}}?)"
_COPULA = re.compile(
    rf"^{_NP}(?:\s+(?:is|are|=|stays|remains|comes to|came to|will be|is set|has been set|was set|stands|costs?|weighs?|"
    rf"takes?|starts?|begins?|ends?|opens?|closes|lasts?|leaves?|departs?|arrives?|runs?)|:|\s*=)\s+(?P<v>.+)$"
)
_CHANGED = re.compile(
    rf"^{_NP}\s+(?:(?:has|have|had|was|were|is|are|got|been|being|just|now)\s+)*(?:moved|changed|postponed|delayed|pushed|"
    rf"brought forward|shifted|rescheduled|raised|increased|reduced|lowered|cut|dropped|fallen|fell|went up|gone up|gone down|"
    rf""
    rf"went down|risen|rose|switched|updated|extended|bumped|grew|grown|shrunk)(?:\s+(?:back|up|down|out|"
    rf"forward))?(?:\s+from\s+.+?)?\s+(?:to|till|until)\s+(?P<v>.+)$"
)
_CHANGE = re.compile(
    r"^(?:(?:let's|please|we|i|we've|i've|i have|we have|they|they've)\s+(?:just\s+)?)?(?:change[d]?|move[d]?|set|raise[d]?|"
    r"lower(?:ed)?|increase[d]?|decrease[d]?|reduce[d]?|cut|push(?:ed)?|bring|brought|switch(?:ed)?|update[d]?|"
    r"postpone[d]?|reschedule[d]?|shift(?:ed)?|extend(?:ed)?|bump(?:ed)?|put)\s+(?P<np>(?:the|my|our|"
    r"[A-Z][\w-]+'s)(?:\s+[\w'-]+){1,6}?)(?:\s+(?:up|down|back|forward))?(?:\s+from\s+.+?)?\s+(?:to|till|until|"
    r"at)\s+(?P<v>.+)$",
    re.IGNORECASE,
)
# Somebody else changes a value: “the harbour master postponed the launch to 16 May”.
_CHANGED_BY = re.compile(
    r"^(?:(?:[Tt]he|[Mm]y|[Oo]ur|[Hh]is|[Hh]er)\s+[\w-]+(?:\s+[\w-]+)?|[A-ZÀ-Þ][\w-]+(?:\s+[A-ZÀ-Þ][\w-]+)?)\s+(?:(?:has|have|had|just|now)\s+)*"
    r"(?:moved|changed|postponed|delayed|pushed|brought|shifted|rescheduled|raised|increased|reduced|lowered|cut|extended)\s+"
    r"(?P<np>(?:the|my|our|[A-ZÀ-Þ][\w-]+'s)(?:\s+[\w'-]+){1,6}?)(?:\s+(?:up|down|back|forward))?(?:\s+from\s+.+?)?\s+(?:to|till|until)\s+(?P<v>.+)$"
)
_QUOTED = re.compile(
    rf"(?P<who>[A-ZÀ-Þ][\w&-]+(?:\s+(?:&\s+)?[A-ZÀ-Þ][\w&-]+){{0,2}})(?:'s\s+(?:new\s+|revised\s+|final\s+)?(?:quote|offer|"
    rf"estimate|bid)\s+(?:is|was|came in at|comes to)|\s+(?:now\s+|has\s+|have\s+)?(?:quoted|quotes|asks|charges|offered|"
    rf"offers|wants)"
    rf"(?:\s+(?:us|me|for))?|\s+came\s+(?:back|in)\s+(?:with|at))\s+(?:now\s+|a\s+price\s+of\s+)?(?P<v>(?i:{values.MONEY}))(?P<rest>.*)$"
)
_QUOTE_FROM = re.compile(
    rf"(?i:\b(?:quote|offer|estimate|bid)\s+(?:from|by)\s+)(?P<who>[A-ZÀ-Þ][\w&-]+(?:\s+[A-ZÀ-Þ][\w&-]+){{0,2}})\s+(?:is|was|"
    rf"came (?:in|back) at|comes to|:)\s+(?:now\s+)?(?P<v>(?i:{values.MONEY}))(?P<rest>.*)$"
)
_LEAVING = re.compile(
    rf"^(?:(?P<who>we|i|they|he|she|(?:my|our|the)\s+\w+(?:\s+\w+)?|[A-ZÀ-Þ][\w-]+(?:\s+and\s+[A-Z]\w+)?)(?:'re|'m|'s|'ll|"
    rf"\s+are|\s+is|\s+am|\s+will|\s+now)*\s+)?(?P<verb>leav(?:e|es|ing)|depart(?:s|ing)?|fly(?:ing)?|flies|set(?:s|"
    rf"ting)? off|"
    rf"arriv(?:e|es|ing)|com(?:e|es|ing) (?:back|home)|return(?:s|ing)?|land(?:s|ing)?)\s+(?:out\s+|home\s+|for\s+\S+\s+|"
    rf"to\s+\S+\s+|from\s+\S+\s+)?(?:on\s+|already\s+|now\s+|at\s+)*(?P<v>(?:{values.DATE}|{values.TIME}).*)$",
    re.IGNORECASE,
)
_HAVING = re.compile(
    rf"\b(?:we|i)(?:'ve| have)?(?: got| have)?\s+(?:a budget of\s+)?(?P<v>{values.MONEY})\s+(?:for|to spend on)\s+(?:the |our |my )?(?P<x>[\w -]{{2,30}})",
    re.IGNORECASE,
)
_DECIDED = re.compile(
    r"^(?:we|i)(?:'ve|'re|'m|\s+have|\s+are|\s+am)?\s+(?:finally\s+|now\s+|just\s+)*(?:decided on|chose|picked|went with|"
    r"settled on|going with|took|opted for|agreed on|chosen|sticking with|go with)\s+"
    r"(?P<v>[^.;!?]{2,60}?)\s+(?:for|as)\s+(?P<np>(?:the|our|my)\s+[\w' -]{2,30})$|^(?:for|as)\s+(?P<np2>(?:the|our|"
    r"my)\s+[\w' -]{2,30}?),?\s+(?:we|i)(?:'ve|'re|\s+have|\s+are)?\s+(?:decided on|chose|picked|went with|settled on|"
    r"going with|take|took|opted for)\s+(?P<v2>[^.;!?]{2,60})$"
    r"|^(?:we|i)(?:'ve|\s+have)?\s+decided on (?P<np3>(?:the|our|my)\s+[\w' -]{2,30}):\s*(?P<v3>.{2,60})$",
    re.IGNORECASE,
)
_ELLIPSIS = re.compile(
    r"^(?:(?:then|please|ok|now|so|let's|let us|we'll|i'd say|we|and)\s+)*(?:make (?:it|that)|call it|say|go with|(?:it|"
    r"that)(?:'s|\s+is|\s+has|\s+was)?\s+(?:now|been\s+)?(?:\s*(?:moved|changed|raised|pushed|postponed|gone up|"
    r"rescheduled)(?:\s+\w+)?\s+to)?|we're now at|we are now at|raise it to|"
    r"change (?:it|that) to|move (?:it|that) to|put it at|set it (?:to|at)|push it (?:back )?to|not .{2,30}?(?:,| but))\s+(?P<v>.+)$",
    re.IGNORECASE,
)
_PLAIN_IT = re.compile(r"^(?:it|that)(?:'s|\s+is|\s+was)\s+(?!now\b)", re.IGNORECASE)
_BARE = re.compile(r"^(?P<v>.+?)\s*,?\s+(?:instead|then|now|after all|it is|not\b.+|rather)\b.*$", re.IGNORECASE)

_MONEY_NAMES = frozenset("budget price cost quote fee deposit rent salary offer estimate fare total bill mortgage tuition income wage".split())
_NAMES = frozenset(
    """name hotel airline venue family host teacher doctor dentist boss manager colour color material title theme nickname employer company
    address location city seat platform gate contact fitter plumber electrician supplier
    model brand language school destination course flight train bus restaurant keynote speaker room carrier insurer landlord neighbour flour
    topic format airport station username handle mentor coach worktop""".split()
)
_COUNTED = frozenset("""number size age count code room gate seat platform coach bus line floor flight train extension page chapter version score""".split())
_NO_ATTRIBUTE = frozenset(
    """thing problem issue question answer idea point reason weather it that this there he she they one what who which everything something
    anything nothing fact truth news way time rest difference i we you here today tomorrow yesterday
    all some most others both day week month year other same morning evening afternoon""".split()
)
_MODIFIERS = frozenset(
    """new current total overall final latest updated original exact whole maximum max full actual real revised entire first next own general main
    official planned agreed my our the""".split()
)
_ADJECTIVES = frozenset(
    """very not too so fairly pretty even actually rather somewhat extremely totally already currently great good fine ready broken tight late
    early there here nice bad small big huge important really quite almost more less
    still done wrong right easy hard cheap expensive free full empty open closed ok okay okayish
    lovely beautiful a an same different better worse enough gone missing possible clear unclear sure just only also it us them me you him her
    to in on at of from with by for next under over behind beside near between above below inside outside up down out off that what how why when
    where if because like about""".split()
)
_FOR_TYPE: dict[ValueType, str] = {"money": "price", "date": "date", "time": "time"}
_UNIT_NAMES = (
    ("duration", re.compile(r"(?:hours?|hrs?|h|minutes?|min|days?|weeks?|months?|years?)$", re.IGNORECASE)),
    ("weight", re.compile(r"(?:kg|mg|g|lbs?|pounds)$", re.IGNORECASE)),
    ("temperature", re.compile(r"(?:°C|°F|degrees)$", re.IGNORECASE)),
    ("share", re.compile(r"(?:%|percent)$", re.IGNORECASE)),
)
_FACET = re.compile(r"\s+(?:date|time|price|cost|size)$")
_CALLED_AT = re.compile(r"\b(?:phone|number|mobile|cell|fax|telephone|hotline|contact|whatsapp)\b")
_MEASURES = re.compile(
    r"\b(?:size|length|width|height|depth|weight|thickness|limit|temperature|duration|distance|area|capacity|hydration|age|number|rate|speed|volume)$"
)
_REST_DROPPED = re.compile(r"^[\s,]*(?:instead|not|please|from|rather|after all|it is|as of)\b.*$", re.IGNORECASE | re.DOTALL)
_REST_OPENING = re.compile(r"^\s*(?:now|then)\b\s*", re.IGNORECASE)
_CORRECTION = re.compile(r"^(?:no|nope|actually|sorry|correction|wait|oops|rather|i mean)\b", re.IGNORECASE)
# What others set can't be meant by “make it €21,500”.
_NOT_OURS = frozenset({"quote", "offer", "estimate"})
_RELATIONS = frozenset(
    """sister brother mother mum mom father dad wife husband partner girlfriend boyfriend son daughter kid child aunt uncle cousin niece nephew
    grandmother grandma grandfather grandpa friend boss colleague manager neighbour neighbor
    roommate flatmate landlord teacher doctor dog cat""".split()
)
_SAME_KIND: dict[ValueType, frozenset[ValueType]] = {
    "date": frozenset({"date"}),
    "time": frozenset({"time", "date"}),
    "money": frozenset({"money"}),
    "measure": frozenset({"measure"}),
    "phone": frozenset({"phone"}),
    "email": frozenset({"email"}),
    "link": frozenset({"link"}),
}


def slotted(clause: str, setting: Setting) -> Slotted | None:
    """The slot and value that a clause states, or None. The clause is taken as stated: whether it is, is the caller's to know."""
    bare = strip_lead(clause).rstrip(" .!")
    for read in (_personal, _quote, _leaving, _change, _decided, _copula, _having):
        found = read(bare, setting)
        if found is not None and found.slot and len(found.value) <= 120:
            return found
    return _elliptic(bare, setting, bool(_CORRECTION.match(clause.strip())))


def elsewhere(clause: str, setting: Setting) -> Slotted | None:
    """The same in other languages, for a handful of plain patterns; the sentence stays as it was said (R3)."""
    for attribute, pattern in _ELSEWHERE:
        if match := pattern.search(clause):
            groups = match.groupdict()
            value = (groups.get("v") or groups.get("v2") or "").strip(" .,")
            subject = (setting.topic or USER) if attribute == "budget" else USER
            return Slotted(subject, attribute, value, "money" if attribute == "budget" else "name", finish(clause))
    return None


def _personal(bare: str, setting: Setting) -> Slotted | None:
    for attribute, pattern in _PERSONAL:
        if match := pattern.search(bare):
            return Slotted(USER, attribute, match["v"].strip(" .,"), "name", third_person(bare))
    if match := _FAVORITE.search(bare):
        thing = match["x"].lower()
        return Slotted(USER, f"favorite_{thing.replace(' ', '_')}", match["v"].strip(), "name", third_person(bare))
    if match := _CALLED.search(bare):
        return Slotted(match["x"].lower(), "name", match["v"], "name", third_person(bare))
    return None


def _quote(bare: str, setting: Setting) -> Slotted | None:
    match = _QUOTED.search(bare) or _QUOTE_FROM.search(bare)
    if match is None:
        return None
    who = re.sub(r"^(?:The|Then|And|But|So|Now)\s+", "", match["who"])
    return Slotted(who, "quote", match["v"].strip(" .,"), "money", finish(f"{who}'s quote is {match['v'].rstrip(' .,')}{_rest(match['rest'])}"))


def _leaving(bare: str, setting: Setting) -> Slotted | None:
    match = _LEAVING.match(bare)
    value = values.typed(match["v"]) if match else None
    if match is None or value is None:
        return None
    verb = match["verb"].lower()
    stage = "departure" if re.match(r"leav|depart|fl|set", verb) else "return" if re.match(r"com|return", verb) else "arrival"
    attribute = f"{stage} {'time' if value.type == 'time' else 'date'}"
    who = (match["who"] or "").strip()
    explicit = re.sub(r"^(?:my|our|the)\s+", "", who) if who and who.lower() not in {"we", "i", "they", "he", "she"} else ""
    known = setting.latest(Sought(frozenset({value.type}), attribute))
    if explicit and known is not None and revise.normalize(known.subject) != revise.normalize(explicit) and explicit.lower() not in known.text.lower():
        known = None
    return _make(known.subject if known else explicit, attribute, value, setting)


def _having(bare: str, setting: Setting) -> Slotted | None:
    match = _HAVING.search(bare)
    return None if match is None else attributed(f"budget for {match['x']}", Value("money", match["v"].rstrip(" .,"), ""), setting)


def _change(bare: str, setting: Setting) -> Slotted | None:
    match = _CHANGED.match(bare) or _CHANGE.match(bare)
    if match is None:
        match = _CHANGED_BY.match(bare)
        return attributed(match["np"], values.typed(match["v"]), setting, changing=True) if match else None
    return attributed(match["np"], values.typed(match["v"]) or values.named(match["v"]), setting, changing=True)


def _decided(bare: str, setting: Setting) -> Slotted | None:
    match = _DECIDED.match(bare)
    if match is None:
        return None
    phrase, chosen = match["np"] or match["np2"] or match["np3"], (match["v"] or match["v2"] or match["v3"]).strip()
    value = values.typed(chosen)
    if value is None or len(value.rest.strip()) > 0:
        value = Value("name", re.sub(r"^(?:the|an?)\s+", "", chosen), "")
    return attributed(phrase, value, setting, changing=True)


def _copula(bare: str, setting: Setting) -> Slotted | None:
    match = _COPULA.match(bare)
    if match is None:
        return None
    value = values.typed(match["v"])
    if value is not None:
        return attributed(match["np"], value, setting)
    if re.match(r"[^.]{0,60}:\s", bare):
        return None  # “title: Avatar” is a line of a form that was pasted, more often than it is said
    value = values.named(re.sub(r"^(?:called|named|titled)\s+", "", match["v"]))
    if value is None or value.text.split()[0].lower() in _ADJECTIVES or len(value.text.split()) > 6 or re.search(r"ing$|ed$", value.text.split()[0]):
        return None
    head = re.split(r"\s+(?:of|for|from)\s+", match["np"])[0].split()[-1].lower()
    return attributed(match["np"], value, setting) if head in _NAMES else None


def _elliptic(bare: str, setting: Setting, correcting: bool) -> Slotted | None:
    match = _ELLIPSIS.match(bare) or _BARE.match(bare)
    if _PLAIN_IT.match(bare):
        return None
    value = values.typed(match["v"] if match else bare)
    if value is None or (match is None and not (correcting and not value.rest.strip(" .!"))):
        return None
    known = setting.latest(Sought(_SAME_KIND.get(value.type, frozenset()), skip=_NOT_OURS))
    if known is not None:
        rest = value.rest if match is not None and match.re is _ELLIPSIS else ""
        return Slotted(known.subject, known.attribute, value.text, known.type, _sentence(known.subject, known.attribute, value.text, rest, setting), known.tag)
    if setting.asked and value.type in ("money", "date", "time"):
        return attributed(setting.asked, value, setting)
    return None


# --- Naming ----------------------------------------------------------------------------------------------------------------


def attributed(phrase: str, value: Value | None, setting: Setting, *, changing: bool = False) -> Slotted | None:
    """Split a noun phrase into subject and attribute, and put the value there; None when the phrase names no attribute."""
    if value is None:
        return None
    head, subject = _split_phrase(phrase)
    words = [word for word in head.split() if word.lower() not in _MODIFIERS]
    topic = [word.lower() for word in setting.topic.split()]
    if not subject and len(words) > 1 and words[0].lower() in topic:
        words = words[1:] if len(words) == 2 or words[1].lower() not in topic else words[2:] or words[1:]
        subject = setting.topic
    if not words or len(words) > 4 or words[-1].lower() in _NO_ATTRIBUTE or words[0].lower() in _NO_ATTRIBUTE | _ADJECTIVES:
        return None
    name = " ".join(words).lower()
    last = words[-1].lower()
    if (value.type == "count" and last not in _COUNTED) or (value.type == "phone" and not _CALLED_AT.search(name)):
        return None
    if value.type == "name" and last not in _NAMES and not changing:
        return None
    name = _with_facet(name, last, value.type, value.text)
    if not subject:
        known = setting.latest(Sought(None, name))
        subject = known.subject if known else ""
    return _make(subject, name, value, setting, said=" ".join(words) if value.type == "measure" else "")


def _with_facet(name: str, last: str, kind: ValueType, written: str) -> str:
    """The attribute with the kind of its value, so that a flight's number, hour and price don't replace each other."""
    if kind == "money" and last in _MONEY_NAMES:
        return name
    if kind == "measure" and _MEASURES.search(name):
        return name
    facet = next((name for name, unit in _UNIT_NAMES if unit.search(written)), "size") if kind == "measure" else _FOR_TYPE.get(kind, "")
    if not facet or name.endswith(facet):
        return name
    if kind in ("date", "time") and last in ("deadline", "birthday", "anniversary"):
        return name
    return f"{_FACET.sub('', name)} {facet}" if kind in ("date", "time") else f"{name} {facet}"


def _split_phrase(phrase: str) -> tuple[str, str]:
    """“the budget for the kitchen” → budget, kitchen; “Nora's departure date” → departure date, Nora; “our deadline” → deadline, nobody."""
    text = re.sub(r"^(?:my|our|the|this|his|her|their)\s+", "", phrase.strip(), flags=re.IGNORECASE)
    text = re.sub(r"\s+(?:so far|yet|now|at the moment)$", "", text, flags=re.IGNORECASE)
    if owner := re.match(r"(?P<who>[\w-]+(?:\s+[\w-]+)?)(?:'s|s')\s+(?P<head>.+)$", text):
        return owner["head"], owner["who"]
    if of := re.match(r"(?P<head>.+?)\s+(?:of|for|from|with)\s+(?:the\s+|my\s+|our\s+)?(?P<who>.+)$", text):
        return of["head"], of["who"]
    return text, ""


def _make(subject: str, attribute: str, value: Value, setting: Setting, said: str = "") -> Slotted:
    subject = subject or setting.topic or USER
    if revise.normalize(subject) == revise.normalize(setting.topic):
        subject = setting.topic
    return Slotted(subject, attribute, value.text, value.type, _sentence(subject, said or attribute, value.text, value.rest, setting))


def _sentence(subject: str, attribute: str, value: str, rest: str, setting: Setting) -> str:
    words = attribute.replace("_", " ")
    if subject == USER:
        owner = "The user's"
    elif subject in _RELATIONS:
        owner = f"The user's {subject}'s"
    elif subject[:1].isupper() and subject != setting.topic:
        owner = f"{subject}'" if subject.endswith("s") else f"{subject}'s"
    else:
        owner = f"The {subject}"
    named, _, further = words.partition(" ")
    if subject.lower().split()[-1] == named:
        # “The Lisbon talk talk” says it twice.
        owner, words = (f"The {subject}", further) if subject == setting.topic else (owner, words)
    verb = "are" if re.search(r"[^su]s$", words or subject) else "is"
    return finish(third_person(f"{owner} {words} {verb} {value}{_rest(rest)}".replace("  ", " ")))


def _rest(text: str) -> str:
    """What is worth keeping of the words after a value."""
    text = _REST_OPENING.sub("", text)
    if not text.strip(" .!,") or _REST_DROPPED.match(text) or len(text) > 90:
        return ""
    kept = text.rstrip(" .!")
    return kept if kept[0] in " ,(" else f" {kept}"


_ASKING = re.compile(
    rf"\b(?:what(?:'s| is| are| would be)?|how much|which|when)\b[^.?!]*?\b(?P<x>{'|'.join(sorted(_MONEY_NAMES))}|deadline|"
    rf"departure date|start date|date|appointment|meeting)\b[^.?!]*\?",
    re.IGNORECASE,
)


def asked_for(assistant: str) -> str:
    """The attribute that the assistant's last words ask for (“What is your budget?” → budget), or nothing."""
    matches = list(_ASKING.finditer(assistant[-400:]))
    return matches[-1]["x"].lower() if matches else ""
