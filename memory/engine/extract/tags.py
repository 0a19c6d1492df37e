"""The 14 attribute tags of the paper, found by the words of a sentence."""

from __future__ import annotations

from memory.engine import terms

_WORDS = {
    "1.0": "name age birthday born nationality language gender hometown city live lives address email phone number job work works "
    "profession nurse engineer teacher",
    "2.1": "buy bought budget price cost costs quote shop shopping order ordered store sale discount invoice receipt paid pay "
    "spent deposit expensive cheap offer",
    "2.2": "movie film series book novel read reading song album band music podcast show episode actor author magazine watch watched listen",
    "2.3": "instagram twitter facebook tiktok youtube linkedin reddit mastodon followers post posted channel profile account handle",
    "2.4": "wake woke morning routine sleep bed commute gym daily usually habit every alarm shower walk",
    "2.5": "trip travel flight fly train hotel airport departure return luggage visa passport itinerary leave leaves coach bus "
    "arrival journey holiday vacation packing host airline station city lyon lisbon tour",
    "2.6": "hobby hike hiking run running swim swimming cycle cycling climb tennis football chess guitar piano garden gardening "
    "paint painting game games play yoga marathon",
    "2.7": "eat cook cooking bake baking bread sourdough starter flour dough recipe dinner lunch breakfast restaurant coffee tea "
    "wine vegetarian vegan allergic food drink loaf hydration",
    "2.8": "concert wedding party festival conference exhibition ceremony attended meetup funeral graduation talk keynote match",
    "3.1": "kitchen house flat apartment home room bathroom garden furniture sofa table oven fridge sink worktop hood drawer "
    "drawers shelf floor tile wall rent mortgage window plumber fitter dishwasher appliances",
    "3.2": "sister brother mother father mum dad wife husband partner son daughter friend colleague boss neighbour neighbor cousin "
    "aunt uncle grandmother family kids team guest host",
    "3.3": "deadline date time schedule appointment meeting calendar due monday tuesday wednesday thursday friday saturday sunday o'clock",
    "4.0": "married divorced engaged graduated moved retired pregnant baby died promoted hired fired diagnosed job degree",
    "5.0": "car bike bicycle laptop phone camera watch ring tablet computer own owns owned console scooter boat dog cat steel pan",
}
_BY_STEM: dict[str, list[str]] = {}
for _tag, _listed in _WORDS.items():
    for _word in _listed.split():
        _BY_STEM.setdefault(terms.stem(_word), []).append(_tag)
# What the words of a slot say weighs more than what stands around it.
_SLOT_WEIGHT = 3.0


def tag(text: str, slot: str = "") -> str:
    """The tag whose words occur most, those of the slot counted thrice; empty when none occurs."""
    scores: dict[str, float] = {}
    for words, weight in ((terms.words(text), 1.0), (terms.words(slot.replace("|", " ").replace("_", " ")), _SLOT_WEIGHT)):
        for word in words:
            # “user” is in nearly every fact and says nothing.
            for found in _BY_STEM.get(terms.stem(word), ()) if word != "user" else ():
                scores[found] = scores.get(found, 0.0) + weight
    return max(sorted(scores), key=lambda found: scores[found]) if scores else ""
