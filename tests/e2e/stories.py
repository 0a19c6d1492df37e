"""Small matters that tests plant by `observe`, so that only what a test is about has to be typed and waited for."""

BREAD = [
    {
        "id": "b1",
        "new_root": True,
        "time": "2026-03-01T08:00:00+01:00",
        "user": "My sourdough starter smells of nail varnish. Is it dead?",
        "assistant": "Almost never. That smell is hunger: feed it flour and water twice a day.",
    },
    {
        "id": "b2",
        "parent": "b1",
        "time": "2026-03-01T20:00:00+01:00",
        "user": "The starter doubled in six hours! I fed it rye flour.",
        "assistant": "Alive, then. One more feed tonight, and you can mix a dough in the morning.",
    },
]

# A list long enough that its answer takes several seconds at the pace of these tests.
PACKING = [
    {
        "id": "p1",
        "new_root": True,
        "time": "2026-03-02T17:00:00+01:00",
        "user": "Can you write Nora a packing list for three weeks in Lyon?",
        "assistant": "A packing list for three weeks:\n\n1. Passport and insurance card\n2. The letter for emergencies\n3. Allergy card in French\n"
        "4. Rain jacket with a hood\n5. Two warm jumpers\n6. Shoes that like cobblestones\n7. Plug adapter for her lamp\n8. Charger and earphones\n"
        "9. Notebook for new words\n10. A present for the host family\n11. Pocket money in two places\n12. Something from home for the first evening",
    },
]
ASK_PACKING = "What is on the packing list?"

KITCHEN = [
    {
        "id": "k1",
        "new_root": True,
        "time": "2026-03-03T12:00:00+01:00",
        "user": "We are redoing our kitchen, a galley with one window at the end. Where do we start?",
        "assistant": "With what can't move in a kitchen: water, waste and the window.",
    },
    {
        "id": "k2",
        "parent": "k1",
        "time": "2026-03-03T12:10:00+01:00",
        "user": "The sink stays under the window.",
        "assistant": "Then the drain stays too, which saves money. What is your budget?",
    },
]

# Said in the kitchen by mistake, and what follows there: it goes on from the mistake, since that is where the branch ends.
ASTRAY = "My cello teacher wants the bow arm looser."
FOLLOWS = "The window of the kitchen stays, and so does the sink under it."

# An answer with code in it: a language, none, and a line longer than the chat is wide.
LONG_LINE = "result = [" + ", ".join(f"measure(board_{number}, width={number * 7})" for number in range(12)) + "]"
CODE = [
    {
        "id": "c1",
        "new_root": True,
        "time": "2026-03-04T09:00:00+01:00",
        "user": "How do I count the boards for the worktop?",
        "assistant": "Round up, then add one for waste:\n\n```python\nfrom math import ceil\n\n\ndef boards(width: float, board: float = 19.5) -> int:\n"
        '    """How many boards a worktop of `width` centimetres takes."""\n'
        f'    # one more for waste\n    return ceil(width / board) + 1\n\n\nprint(boards(304), "boards")\n{LONG_LINE}\n```\n\nIt prints:\n\n'
        "```\n17 boards\n```\n\nMore in [the manual](https://boards.example/count).",
    },
]
