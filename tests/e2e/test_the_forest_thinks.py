"""The page while memory thinks: two matters, and the old path lit before the first word of an answer."""

import re

from playwright.sync_api import expect

from tests.e2e.stories import BREAD

# From now on, every frame: how much is painted around each state, and how much of the last answer is shown.
# `atFirstWord` is taken in the very moment the answer's text enters the document.
RECORD = """(view, box, {ids, turns}) => {
  const canvas = box.querySelector('canvas');
  const ratio = canvas.width / canvas.clientWidth;
  const ink = (id) => {
    const place = view.placeOf(id);
    if (!place) return -1;
    const [x, y, reach] = [Math.round(place.x * ratio), Math.round(place.y * ratio), Math.round(20 * ratio)];
    const {data} = canvas.getContext('2d').getImageData(x - reach, y - reach, 2 * reach + 1, 2 * reach + 1);
    // The drawing's ground is what most of the box' rim shows.
    const ground = [data[0], data[1], data[2], data[3]];
    let painted = 0;
    for (let i = 0; i < data.length; i += 4) {
      const far = Math.abs(data[i] - ground[0]) + Math.abs(data[i + 1] - ground[1]) + Math.abs(data[i + 2] - ground[2]) + Math.abs(data[i + 3] - ground[3]);
      if (far > 24) painted += 1;
    }
    return painted / ratio / ratio;
  };
  const inks = () => Object.fromEntries(ids.map((id) => [id, ink(id)]));
  const lit = () => ids.filter((id) => view.isLit(id));
  const words = () => {
    const all = document.querySelectorAll('[data-testid=turn]');
    return all.length <= turns ? '' : (all[turns].querySelector('[data-testid=answer]')?.textContent ?? '').trim();
  };
  const record = window.record = {before: inks(), frames: [], atFirstWord: null, placed: false};
  new MutationObserver(() => {
    if (!record.atFirstWord && words()) record.atFirstWord = {time: performance.now(), inks: inks(), lit: lit()};
  }).observe(document.body, {subtree: true, childList: true, characterData: true});
  const frame = () => {
    record.frames.push({time: performance.now(), inks: inks(), lit: lit(), words: words().length});
    if (record.frames.length < 900) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}"""

# Pixels that light adds around a state at least (its halo and larger disc), and that anything else may add at most.
LIT, DARK = 30, 8


def test_a_returning_turn_lights_its_old_path_before_the_first_word(visitor):
    forest = visitor.plant(*BREAD)
    bread = list(visitor.parents(forest))
    frames: list[str] = []
    visitor.page.on("websocket", lambda socket: socket.on("framereceived", lambda data: frames.append(str(data))))
    visitor.open(forest)

    # Two matters, interleaved; each new one becomes a root of its own.
    kitchen = [visitor.say("We are redoing our kitchen: a small galley with drawers and a worktop of oak.")]
    cello = [visitor.say("I am learning the cello and practise scales every evening.")]
    kitchen.append(visitor.say("The kitchen drawers get fronts of beech, and the worktop stays oak."))
    cello.append(visitor.say("My cello teacher wants the bow arm looser."))
    parents = visitor.parents(forest)
    assert parents[kitchen[0]] is None
    assert parents[cello[0]] is None, "the second matter must be a root of its own"
    assert parents[kitchen[1]] == kitchen[0]
    assert parents[cello[1]] == cello[0]
    expect(visitor.page.get_by_test_id("counts")).to_contain_text("3 topics")

    visitor.page.wait_for_timeout(600)  # growth and slides have ended
    assert visitor.forest("(view, box, ids) => ids.map((id) => view.isLit(id))", kitchen + bread) == [False] * 4
    visitor.forest(RECORD, {"ids": kitchen + bread, "turns": visitor.turns.count()})

    # Neither “kitchen” nor any cue.
    returning = "Would oak warp next to a dishwasher, and beech on the drawers as well?"
    state = visitor.say(returning)
    assert visitor.parents(forest)[state] == kitchen[1], "it belongs to the tip of the old path"
    turn = visitor.api("GET", f"forests/{forest}/turns/")["results"][-1]
    assert turn["decision"]["method"] == "recall", "no cue decided this"

    record = visitor.page.evaluate("window.record")
    before, first = record["before"], record["atFirstWord"]

    def gain(frame, state):
        return frame["inks"][str(state)] - before[str(state)]

    assert min(before.values()) > 20, f"every state is painted at its place: {before}"
    assert first, "words of the answer were seen to appear"
    earlier = [frame for frame in record["frames"] if frame["time"] < first["time"]]
    whole = [frame for frame in earlier if frame["words"] == 0 and all(gain(frame, id) > LIT for id in kitchen)]
    assert whole, f"no frame before the first word shows the path lit: before {before}, the last frames {earlier[-5:]}"
    assert set(kitchen) <= set(first["lit"])
    for id in kitchen:
        assert gain(first, id) > LIT, f"state {id} of the path is lit when the first word shows: {before} {first}"
    for frame in [*whole, first]:
        assert not set(bread) & set(frame["lit"])
        for id in bread:
            assert abs(gain(frame, id)) < DARK, f"state {id} of another matter is not lit: {before} {frame}"

    # The same order on the wire.
    kinds = re.findall(r'"type": ?"(turn\.\w+)"', "\n".join(frames[-200:]))
    last = len(kinds) - 1 - kinds[::-1].index("turn.accepted")
    assert kinds[last:].index("turn.localized") < kinds[last:].index("turn.delta")


def test_an_answer_grows_a_state_and_its_facts_appear(visitor):
    forest = visitor.plant(*BREAD)
    visitor.open(forest)
    before = len(visitor.parents(forest))
    text = "My oven is called Bertha, and she reaches 280 °C."
    visitor.send(text)
    expect(visitor.page.get_by_test_id("counts")).to_contain_text(f"{before + 1} states")
    state = visitor.say("My baker friend is called Jonas.", refined=True)
    turn = visitor.turn("My baker friend is called Jonas.")
    expect(turn.get_by_test_id("chip-learned").first).to_contain_text("Jonas")
    expect(visitor.page.get_by_test_id("lag")).to_have_text("Memory is up to date")
    painted = visitor.forest("(view, box, id) => view.placeOf(id)", state)
    box = visitor.page.get_by_test_id("forest").bounding_box()
    assert 0 < painted["x"] < box["width"]
    assert 0 < painted["y"] < box["height"], "the newest state is in view"
    for other in visitor.page.get_by_test_id("turn").all():
        assert other.get_attribute("data-status") in {"answered", "refined"}


def test_a_changed_value_shows_as_a_revision_in_inspector_and_drawing(visitor):
    forest = visitor.plant()
    visitor.open(forest)
    old = visitor.say("The kitchen budget is €18,000.", refined=True)
    new = visitor.say("The kitchen budget is €21,500 now.", refined=True)
    rows = {row["id"]: row for row in visitor.api("GET", f"forests/{forest}/states/")["results"]}
    assert (rows[old]["replaced"], rows[new]["new_value"]) == (True, True)

    # In the drawing: the words beside both states, and on the canvas the dash of the old one.
    drawing = visitor.page.get_by_test_id("forest")
    expect(drawing.get_by_text("replaced", exact=True)).to_be_visible()
    expect(drawing.get_by_text("new value", exact=True)).to_be_visible()
    # From the chip that the new answer shows to the timeline of the value.
    visitor.turn("The kitchen budget is €21,500 now.").get_by_test_id("chip-learned").first.click()
    timeline = visitor.page.get_by_test_id("timeline")
    values = timeline.get_by_test_id("revision")
    expect(values).to_have_count(2)
    expect(values.nth(0)).to_have_attribute("data-status", "superseded")
    expect(values.nth(0)).to_contain_text("€18,000")
    expect(values.nth(1)).to_have_attribute("data-status", "current")
    expect(values.nth(1).locator("ins")).to_contain_text("21,500")
    expect(values.nth(1).locator("del")).to_contain_text("18,000")
    expect(values.nth(1)).to_contain_text("holds now")

    # A reload shows the same view.
    visitor.page.wait_for_timeout(400)  # the address is written a moment after the click
    visitor.page.reload()
    visitor.ready()
    expect(visitor.page.get_by_test_id("timeline").get_by_test_id("revision")).to_have_count(2)
