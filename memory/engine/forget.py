"""A message that asks to forget something, told from one that says not to, that forgot, or that only waves something away."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory.engine.terms import fold

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
