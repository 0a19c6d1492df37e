"""A message that asks to forget something is told from one that says not to, that forgot, or that only waves something away."""

from __future__ import annotations

import pytest

from memory.engine.forget import forget

ASKED = [
    ("Forget that my budget is €20,000.", "my budget is €20,000"),
    ("Please forget my address", "my address"),
    ("Could you please forget what I said about Nora?", "what I said about Nora"),
    ("forget about the garden", "the garden"),
    ("Forget everything I told you about Lisbon!", "Lisbon"),
    ("Hey, forget the fact that I'm vegetarian", "I'm vegetarian"),
    ("I want you to forget my birthday", "my birthday"),
    ("Delete my address from your memory", "my address"),
    ("Vergiss bitte, dass ich in Köln wohne.", "ich in Köln wohne"),
    ("Kannst du vergessen, was ich über Nora gesagt habe?", "was ich über Nora gesagt habe"),
    ("Vergiss meine Adresse", "meine Adresse"),
    ("Lösche meine Adresse aus deinem Gedächtnis.", "meine Adresse"),
    ("Olvida que vivo en Lima", "vivo en Lima"),
    ("Por favor, olvida mi dirección", "mi dirección"),
    ("¿Puedes olvidar lo que dije de Ana?", "lo que dije de Ana"),
    ("Oublie que j'habite à Lyon", "j'habite à Lyon"),
    ("S'il te plaît, oublie ce que j'ai dit sur Paul", "ce que j'ai dit sur Paul"),
    ("Peux-tu oublier l'adresse ?", "l'adresse"),
    ("Dimentica che abito a Roma", "abito a Roma"),
    ("Esqueça que moro em Lisboa", "moro em Lisboa"),
    ("Забудь, что я живу в Твери", "я живу в Твери"),
]
OTHERWISE = """Don't forget that my budget is 3
Do not forget the milk
Please don't forget my address
I forget whether I told you
I forgot my keys
Never forget that day
forget it
Forget it, what about tiles?
Forget that. How tall is it?
forget that, let's talk about tiles
Forget about it!
Forget the budget, how tall is the ceiling?
Forget me not flowers are blue
Forgetting is human
How can I forget my ex?
What did I forget?
Forget
Vergiss nicht, dass ich komme
Vergiss nie, wo du herkommst
Vergiss es
Ich vergesse immer alles
Vergessen wir das
No olvides la leche
Olvídalo
N'oublie pas le lait
Oublie pas que j'arrive
Oublie ça""".splitlines()


@pytest.mark.parametrize(("message", "what"), ASKED)
def test_requests_to_forget_say_what(message, what):
    found = forget(message)
    assert found is not None and found.what == what and not found.last


@pytest.mark.parametrize("message", OTHERWISE)
def test_other_messages_are_none(message):
    assert forget(message) is None


def test_what_was_just_said_is_the_turn_before():
    for message in ("Forget what I just said", "Vergiss, was ich gerade gesagt habe", "Olvida lo que te acabo de decir", "Oublie ce que je viens de dire"):
        found = forget(message)
        assert found is not None and found.last, message


def test_a_pasted_text_is_no_request():
    assert forget("Forget that " + "the world is round and " * 40) is None
