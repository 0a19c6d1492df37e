"""The sample forest: two weeks in the life of Ines, four matters interleaved, told so that every feature has something to show.

A kitchen renovation, a sourdough, a talk in Lisbon and her daughter's exchange with Lyon; with forks, returns, two revisions
(the budget, the departure), lists to point into, things to count. Written for this project.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

DAYS = 14


@dataclass(frozen=True, slots=True)
class SampleTurn:
    """One turn: its id, the id of the turn it continues (None: a new matter), its day from 0, and its minute of that day;
    on the last day the minute is negative and counts from the end of the story, so that it always ends now."""

    id: str
    parent: str | None
    day: int
    minute: int
    user: str
    assistant: str


def interactions(now: datetime, zone: str) -> list[dict[str, Any]]:
    """The turns in order as `{"id", "parent", "user", "assistant", "time"}`, times aware and in order, the last one a minute before `now`.

    `parent` is the gold parent: the id of the turn that each one continues.
    """
    today = now.astimezone(ZoneInfo(zone)).replace(hour=0, minute=0, second=0, microsecond=0)
    told = []
    for turn in turns():
        day = today - timedelta(days=DAYS - 1 - turn.day)
        time = now + timedelta(minutes=turn.minute) if turn.minute < 0 else day + timedelta(minutes=turn.minute)
        told.append({"id": turn.id, "parent": turn.parent, "user": turn.user, "assistant": turn.assistant, "time": time})
    return told


_HEAD = re.compile(r"^@ (?P<id>\w+) < (?P<parent>\w+), day (?P<day>\d+), (?:-(?P<back>\d+)|(?P<hour>\d+):(?P<minute>\d+))$")


@lru_cache(maxsize=1)
def turns() -> tuple[SampleTurn, ...]:
    """The story below, read."""
    return tuple(_read(STORY))


def _read(story: str) -> Iterator[SampleTurn]:
    for block in re.split(r"\n(?=@ )", story):
        head, _, body = block.strip().partition("\n")
        match = _HEAD.match(head)
        if match is None:
            raise ValueError(f"not the head of a turn: {head}")
        user, _, assistant = body.partition("\n--\n")
        minute = -int(match["back"]) if match["back"] else 60 * int(match["hour"]) + int(match["minute"])
        parent = None if match["parent"] == "new" else match["parent"]
        yield SampleTurn(match["id"], parent, int(match["day"]), minute, _joined(user), _joined(assistant))


def _joined(text: str) -> str:
    """Lines of one paragraph on one line; an empty line or an item of a list begins a new one."""
    return re.sub(r"(?<!\n)\n(?!\n|\d+\. )", " ", text.strip())


# Each turn: its head (id < the turn it continues, day, time of day or minutes before now), the user's words, a line of two dashes, the answer.
STORY = """\
@ s1 < new, day 0, 7:50
My sourdough needs rescuing: the starter sat in the fridge for three weeks and smells of nail varnish. Is it dead?
--
Almost never. That smell is hunger. Pour off the grey liquid, keep a spoonful, and feed it equal weights of flour and water twice a day. A
sourdough that was healthy once is back within three days.

@ s2 < s1, day 0, 8:05
The flour at home is rye. Is that good for it?
--
The best there is for waking up a starter: rye carries more yeast and minerals. Change to wheat once it doubles between feeds.

@ k1 < new, day 0, 12:20
We're redoing our kitchen, a galley of 9 m² with one window at the end. Where do we start?
--
With what can't move in a kitchen: water, waste and the window. Draw those first, then place the sink, then the oven, and the cupboards
last. Does anything have to stay where it is?

@ k2 < k1, day 0, 12:31
The sink stays under the window. I like looking out while I wash up.
--
Then the drain stays too, which saves money. That leaves the long wall for cooking and the short one by the door for tall things. What is
your budget?

@ k3 < k2, day 0, 12:40
Let's say €18,000 for everything, appliances included.
--
For 9 m² that is comfortable if the drain stays. Keep about a fifth for appliances and a tenth for what hides behind the old tiles.

@ s3 < s2, day 0, 21:10
The starter doubled in six hours! I fed it at three.
--
Alive, then. One more feed tonight, and you can mix a dough in the morning.

@ t1 < new, day 1, 9:15
My Lisbon talk got accepted for Small Data Day, on 2 May! I have never spoken in front of two hundred people.
--
Congratulations! Two hundred people are easier than five: nobody interrupts. What do they want from you first, the abstract or the slides?

@ t2 < t1, day 1, 9:32
The abstract, a hundred words. The abstract deadline is 20 February.
--
Then write it last and cut it to a hundred: one sentence for the problem, two for what you did, one for what they can use on Monday.

@ k4 < k2, day 1, 13:05
Doors or drawers below the counter?
--
Drawers wherever you stand to cook: you see everything from above and nobody kneels. Doors only under the sink, where the pipes are.

@ k5 < k4, day 1, 13:12
Drawers, then. We decided on beech for the drawer fronts.
--
Beech is calm and hard. Take deep drawers for pans, 36 cm inside, and one shallow one on top for knives.

@ s4 < s3, day 1, 19:40
I baked two loaves this morning. One was lovely, the other stuck to the basket.
--
Two from a starter you thought was dead! Dust the basket with rice flour; wheat flour turns to glue.

@ l1 < new, day 2, 8:25
Nora's Lyon exchange is fixed: three weeks in March, with a host family. She is already practising her bonjour. What do we settle first?
--
For a school exchange: travel, papers, and a word with the host family. In France they also like a letter that says who may decide in an
emergency.

@ l2 < l1, day 2, 8:40
The host family is Moreau. They have two boys and a dog called Praline.
--
Then Nora will learn the important words first: viens, assis, donne. Ask Madame Moreau whether the dog sleeps in her room.

@ l3 < l2, day 2, 8:52
Nora is allergic to hazelnuts, I must not forget to tell them.
--
Write it in French and give it to them on paper: “Nora est allergique aux noisettes.” Lyon loves praline, so it matters there.

@ k6 < k3, day 2, 17:30
Which fitters could I ask for quotes? We want to compare three.
--
Three fitters to ask for quotes:

1. Berg & Sohn, who build their own carcasses
2. Casa Nova, quick and tidy, with a showroom by the station
3. Tischlerei Lenz, the joiner who did your neighbours' stairs

Give all three the same drawing, or you can't compare.

@ t3 < t2, day 2, 20:15
Can you make me an outline for the talk that people enjoy?
--
An outline in five beats:

1. The spreadsheet that lied
2. Why small data is hard
3. Three questions to ask before counting
4. What the bakery found out
5. Take this card home

@ l4 < l3, day 3, 9:05
Train or plane to Lyon? The school leaves it to us.
--
The train: they sit together, and it ends in the middle of town. Book the quiet coach, and Nora arrives rested.

@ l5 < l4, day 3, 9:20
Train, then. They leave on 9 March, coach 8.
--
Good. Seats are cheapest ten weeks ahead, and pupils travel at half price with the school's letter.

@ t4 < t3, day 3, 11:45
The talk is 20 minutes with questions. Which beat would you drop?
--
None, but let the second shrink to a single slide. Fifteen minutes of talk leave five for questions.

@ k7 < k5, day 3, 18:10
Does oak warp beside a dishwasher?
--
Only if the steam reaches raw wood. Oil the edge three times and put a strip of foil above the door; then oak outlives the dishwasher.

@ s5 < s4, day 3, 20:30
I bought a baking steel for €89 today. I bake on a steel now, not on a stone.
--
A steel gives its heat away faster than a stone, so the bottom browns before the crumb dries. Oil it thinly after the first bake.

@ k8 < k6, day 4, 10:00
First quote is in! Berg & Sohn quoted €11,400 without the worktop.
--
That is fair for their own carcasses. Ask whether fitting and taking the old kitchen away are in it; often they aren't.

@ l6 < l3, day 4, 16:45
Can you write Nora a packing list for three weeks in March?
--
A packing list for three weeks:

1. Passport and insurance card
2. The letter for emergencies
3. Allergy card in French
4. Rain jacket
5. Two warm jumpers
6. Shoes that like cobblestones
7. Plug adapter for her lamp
8. Charger and earphones
9. Notebook for new words
10. A present for the Moreaus
11. Pocket money in two places
12. Something from home for the first evening

@ l7 < l6, day 4, 16:58
Nora says two jumpers are too many.
--
Lyon in March has mornings of 4 °C. One on her, one in the bag, and you needn't argue.

@ s6 < s5, day 4, 21:00
How thick should a steel be? The steel is 6 mm thick.
--
Six is the sweet spot: it holds enough heat for two loaves in a row and you can still lift it.

@ k9 < k4, day 5, 9:40
Layout again: the fridge goes next to the door, so that nobody crosses the cook.
--
That works. The tall things end up together, and the counter between sink and hob stays whole: 160 cm to work on.

@ s7 < s4, day 5, 15:20
Wheat only this time. I baked one loaf today and it came out flat as a plate.
--
Too long in the warmth. Wheat gives up sooner than rye: shape it when it has grown by half, not when it has doubled.

@ t5 < t4, day 5, 18:05
Speaker dinner the evening before: I said yes, although I dread it.
--
Ask everyone what they cut from their talk. Speakers love that question, and you only have to listen.

@ s8 < s7, day 6, 10:30
I shaped the wheat loaf earlier, as you said. So much better!
--
Then the oven can do the rest. Next question: overnight in the fridge, for flavour?

@ k10 < k8, day 7, 9:10
We did the sums again last night. Our budget is €21,500 now, appliances apart.
--
So the kitchen itself has €21,500, and oven, hob and fridge come from elsewhere. That makes room for a solid worktop.

@ k11 < k10, day 7, 9:18
Yes. The appliance budget is €3,200.
--
Enough for a good oven and a quiet dishwasher, if the old fridge stays another year.

@ l8 < l2, day 7, 14:10
What could Nora bring the Moreaus?
--
Something that tells of home and survives a train: honey from your street, a tea towel with a map, or a game that needs no language.

@ l9 < l8, day 7, 14:22
Honey, from Mrs Pichler's bees. She gave us two jars.
--
Perfect, and no hazelnuts in it. Wrap each jar in a jumper; that settles the jumpers, too.

@ t6 < t5, day 7, 20:00
The deck has 24 slides so far. I made the bakery one last.
--
Read it aloud once with a clock before you make another.

@ k12 < k7, day 8, 12:15
We decided on oak for the worktop. The worktop is 38 mm thick.
--
Solid, then, not veneer. Ask for boards that run the whole length, and let them lie in the room for two weeks before fitting.

@ s9 < s8, day 8, 19:30
It has been in the fridge overnight. I baked three loaves for the street party.
--
Six loaves in a week! Cold dough is easier to score, too: one long cut, slightly off the middle.

@ l10 < l5, day 9, 8:15
The school wrote. Departure moved to 12 March, same coach.
--
Three days later, then. Tell the Moreaus, and ask whether the return moves as well.

@ l11 < l7, day 9, 17:00
The luggage limit is 24 kg. Nora's case weighs 26.
--
Take the shoes on her feet and the notebook in her hand, and ask the Moreaus for a lamp instead of the adapter.

@ t7 < t6, day 9, 20:40
Read it aloud: 19 minutes. Too long, isn't it?
--
By four. Cut where you explain, never where you tell a story.

@ s10 < s9, day 10, 8:30
How long can a dough stay cold? This one had 24 hours in the fridge.
--
At 4 °C up to three days. After 24 hours the flavour is at its best; after 48 it turns sour and spreads.

@ t8 < t7, day 10, 12:45
Is 24 enough, then?
--
For fifteen minutes it is plenty. Twenty would let you breathe.

@ k13 < k9, day 10, 18:20
The extractor hood recirculates, so it needs no duct. Is that a mistake in such a small room?
--
No, as long as you change the filter twice a year and keep the window. It also frees you: it can hang on any wall.

@ t9 < t8, day 11, 9:25
Write me three opening lines for the talk, without “hello, my name is”.
--
Three opening lines:

1. “This spreadsheet has eleven rows, and it cost us a bakery.”
2. “I have less data than anyone in this room, and I'd like to keep it that way.”
3. “Raise your hand if you have ever averaged two numbers and felt clever.”

@ t10 < t9, day 11, 9:33
The second one! My sister laughed out loud.
--
Then stop after it and count to two. Let them laugh as well.

@ l12 < l11, day 11, 19:50
They forecast rain for the whole of March. What comes out of the case, and what goes in?
--
Out: the second pair of jeans, which never dries. In: a second pair of shoes, and plastic bags for the first.

@ k14 < k11, day 12, 11:00
Second quote! Casa Nova quoted €12,900 with the worktop. Which one would you take?
--
Berg & Sohn is €1,500 lower, but without a worktop; a solid oak one costs more than that. Side by side, Casa Nova is the better price.

@ k15 < k12, day 12, 15:30
From which sawmill would you take the oak?
--
From one that dries it slowly and shows you the boards. Ask for 8 % moisture, written on the bill.

@ t11 < t10, day 12, 18:45
Make the speaker notes shorter, please. I want one word per slide.
--
One word per slide: rows · lie · small · hard · who · why · when · bread · card. If you can tell it from these nine, you know it.

@ s11 < s10, day 13, -41
Tray of water for steam, or bake with the lid on?
--
Either works. The lid traps the loaf's own steam and needs no tray of water, so keep it on for the first 20 minutes.

@ s12 < s11, day 13, -29
How long does the steel need to preheat?
--
Forty-five minutes at 250 °C, on the upper third. Longer gains nothing with a 6 mm plate.

@ l13 < l10, day 13, -15
Does the return to Vienna move as well, Madame Moreau asks?
--
The school hasn't said. Three weeks from the new departure would be 2 April; ask before you book.

@ k16 < k13, day 13, -1
Could the oven go on the window wall, then?
--
Yes, at the left end of it. The sink stays under the window, so the oven fits in the 60 cm between the sink and the corner. Two things
follow: the hood recirculates, so it needs no duct on that wall, and the drawers for pans come beside it.
"""
