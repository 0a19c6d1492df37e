"""An export is one JSON document with everything that isn't derived, of this forest only."""

import json

import pytest
from django.core.management import CommandError, call_command

from memory.actions.export_forest import SECTIONS, export_forest
from tests.forests import learn, plant, say, trace, wait

pytestmark = pytest.mark.django_db


def test_every_section_is_there(home):
    old = learn(home.kitchen, "Budget is 20,000", slot="k|b")
    new = learn(home.hood, "Budget is 21,500", slot="k|b", replaces=old)
    learn(home.hood, "Went there", "event", quantity="2.5", unit="km")
    trace(home.filters, home.kitchen, new)
    wait(home.forest, "Waiting “now” \u2028 \U0001f33f")
    other = say(plant(home.forest.owner, "Other"), "Not mine")
    with export_forest(home.forest) as file:
        document = json.load(file)
    assert (document["format"], document["version"], document["forest"]["name"]) == ("arborweb-forest", 1, "Home")
    assert set(document) == {"format", "version", "forest", *SECTIONS}
    assert [len(document[name]) for name in ("turns", "states", "topics", "facts", "events", "revisions", "decisions", "traces")] == [7, 6, 2, 2, 1, 1, 6, 1]
    assert document["turns"][-1]["text"] == "Waiting “now” \u2028 \U0001f33f"
    assert document["states"][1]["parent"] == home.kitchen.pk
    assert document["facts"][0]["superseded_by"] == new.pk
    assert other.pk not in {state["id"] for state in document["states"]}


def test_the_command_writes_it(home, tmp_path):
    call_command("export_forest", "Home", "--out", str(tmp_path / "home.json"))
    assert len(json.loads((tmp_path / "home.json").read_text())["states"]) == 6
    with pytest.raises(CommandError, match="No forest is called"):
        call_command("export_forest", "Nowhere")


def test_two_people_with_a_forest_of_one_name_are_told_apart(home, omar, tmp_path):
    plant(omar, "Home")
    with pytest.raises(CommandError, match="--user"):
        call_command("export_forest", "Home")
    call_command("export_forest", "Home", "--user", "omar", "--out", str(tmp_path / "his.json"))
    assert json.loads((tmp_path / "his.json").read_text())["states"] == []
