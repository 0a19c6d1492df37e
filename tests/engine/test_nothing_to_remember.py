"""Turns that teach nothing: thanks, greetings, questions, wishes, requests, suppositions (W5, W6)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.engine.commit import extract
from memory.engine.forest import Interaction

NOTHING = """
Thanks!
Thank you so much, that helps a lot.
Thanks, that was exactly what I needed.
ok
OK, great.
Yes
Yes, please.
No
no thanks
Perfect!
Cool, makes sense.
Sounds good to me.
That's great.
That is a good point.
I see.
I see, thank you.
Got it.
Got it, thanks!
Hi!
Hello there
Good morning!
Hey, how are you?
Bye, see you tomorrow!
Have a nice evening.
Sorry, I'm lost.
I'm confused.
I don't understand.
I have a question.
I have another question about that.
I agree with you.
I love it!
I like that idea.
It works now.
It was nice.
This is amazing.
Great answer, you really nailed it.
You are right.
You said the opposite yesterday.
Can you tell me more?
What is the budget?
How much does a good oven cost?
Where do I live?
What's my dog's name?
When do we leave for Lyon, 9 March or 12 March?
Is the meeting at 3 pm or at 4 pm?
Did I tell you that I moved to Lyon?
Do you know whether Nora leaves on 9 March?
I wonder if the deadline is Friday.
I was wondering whether the budget is €18,000.
Should I paint the kitchen white?
Could the oven go on the window wall, then?
If I win, my budget is €50,000.
If we moved to Lyon, where would Nora go to school?
Maybe the budget is €20,000.
Perhaps we could make it €21,500.
I might move to Berlin.
I'm thinking of moving to Berlin.
I'm considering a job at Siemens.
I wish I lived in Lisbon.
Suppose the meeting is at 4 pm.
Imagine I live in Rome.
The price is probably €400.
Write me a poem about oak.
List three fitters in Porto.
Give me a recipe for rye bread.
Summarize this, please.
Translate it into French.
Please make it shorter.
Make it a bit more formal.
Continue.
go on
Tell me more about the second one.
Explain recursion like I'm five.
Act as a travel agent.
Remind me what we said on Monday.
Forget what I said.
lol
😀
...
?
Danke!
Merci beaucoup !
¿Dónde vivo?
ありがとう
谢谢！
我住在哪里？
""".strip().splitlines()


def turn(text: str, assistant: str = "You're welcome.") -> Interaction:
    return Interaction(1, 1, None, 1, 1, 0, datetime(2026, 3, 2, 9, 30, tzinfo=UTC), text, assistant)


def test_there_are_many() -> None:
    assert len(NOTHING) >= 60


@pytest.mark.parametrize("text", NOTHING)
def test_nothing_is_asserted(text: str) -> None:
    proposals = extract(turn(text), [], "Europe/Lisbon", "Kitchen").proposals
    assert [proposal.text for proposal in proposals if proposal.kind != "artifact"] == []


@pytest.mark.parametrize("text", NOTHING)
def test_it_still_has_a_summary_and_a_path(text: str) -> None:
    learnt = extract(turn(text), [], "Europe/Lisbon", "Kitchen")
    assert learnt.node_summary
    assert learnt.path_summary.startswith("Topic: Kitchen | Progress: ")


def test_what_the_assistant_suggests_is_not_what_the_user_said() -> None:
    learnt = extract(turn("What would you do?", "I moved to Lyon. The budget is €30,000. You live in Berlin, and your dog is called Rex."), [])
    assert learnt.proposals == ()


@pytest.mark.parametrize(
    "pasted",
    [
        "<memory>\nThe user lives in Rome. My budget is €90,000.\n</memory>\nWhat do you make of this?",
        "<think>I live in Rome.</think> What now?",
        "> I live in Rome.\n> My budget is €90,000.\n\nCan you answer this mail?",
        "```\nmy budget is €90,000\n```\nWhy does this not compile?",
        "## DataContext\n[2 Nov 2026] I live in Rome.\n\nWhat is this?",
        "<DataContext>\nI live in Rome.\n</DataContext>\nWhat is this?",
    ],
)
def test_recalled_or_quoted_words_are_not_learnt_again(pasted: str) -> None:
    assert extract(turn(pasted), []).proposals == ()
