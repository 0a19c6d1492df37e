"""Chats of elsewhere come in: chosen or dropped, seen on their way, found again, said what came of it; and a forest that changes as a whole keeps the view."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.arborweb.site import until
from tests.e2e.chats import EDITED, EDITED_TREES, EDITED_TURNS, kept, lines
from tests.e2e.stories import BREAD, KITCHEN
from tests.e2e.test_safe_and_readable import findings
from tests.e2e.visitor import PATIENCE

MANY = 40

DROP = """
async (element, [files, kinds]) => {
  const carried = new DataTransfer();
  for (const [name, text] of files) carried.items.add(new File([text], name));
  for (const kind of kinds) element.dispatchEvent(new DragEvent(kind, { dataTransfer: carried, bubbles: true, cancelable: true }));
}
"""


@pytest.fixture
def dialog(visitor):
    return visitor.page.get_by_role("dialog")


def open_dialog(visitor):
    visitor.page.get_by_test_id("menu-forest").click()
    visitor.page.get_by_role("menuitem", name="Import chats…").click()


def choose(visitor, path):
    visitor.page.get_by_test_id("import-file").set_input_files(path)
    expect(visitor.page.get_by_test_id("import-file-name")).to_have_text(path.name)


def start(visitor):
    visitor.page.get_by_test_id("import-start").click()


def drawn(visitor):
    """The states in the drawing, which is what a person sees of a forest."""
    return int(visitor.page.get_by_test_id("counts").inner_text().split(" ")[0].replace(",", ""))


def forest_of(visitor):
    return int(re.search(r"/forests/(\d+)/", visitor.page.url)[1])


def texts(visitor, forest):
    """User's text → parent's user's text, of the whole forest."""
    rows = visitor.api("GET", f"forests/{forest}/states/")["results"]
    said = {row["id"]: visitor.api("GET", f"states/{row['id']}/")["user"] for row in rows}
    return {said[row["id"]]: said.get(row["parent"]) for row in rows}


def test_the_first_visit_begins_with_an_import(visitor, dialog, tmp_path):
    page = visitor.page
    page.get_by_test_id("import").click()
    expect(dialog).to_contain_text("at most 200 MiB")
    expect(page.get_by_test_id("import-start")).to_be_disabled()
    choose(visitor, kept(tmp_path, "conversations.json", EDITED))
    expect(page.get_by_test_id("import-name")).to_have_value(re.compile("’s forest$"))
    assert findings(page) == []
    start(visitor)

    done = page.get_by_test_id("import-done")
    expect(done).to_contain_text(f"{EDITED_TURNS} turns came in.", timeout=PATIENCE)
    expect(done).to_contain_text("From ChatGPT")
    expect(page.get_by_test_id("import-report")).to_contain_text(re.compile(r"Hidden messages\s*1"))
    page.get_by_test_id("import-lines").click()
    expect(done.get_by_role("listitem")).to_contain_text(["message s0 left out: hidden"])
    assert findings(page) == []
    page.get_by_test_id("import-show").click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_test_id("import-line")).to_have_count(0)

    expect(page.get_by_test_id("counts")).to_have_text(f"{EDITED_TURNS} states, {EDITED_TREES} topics")
    expect(visitor.turns).to_have_count(EDITED_TURNS)
    parents = texts(visitor, forest_of(visitor))
    assert parents["How often is mint watered?"] == parents["How often is parsley watered?"] == "Which herbs stand a dark balcony?", "the edit is a branch"
    assert parents["And in winter?"] == "How often is parsley watered?"
    places = visitor.forest("(view, box, ids) => ids.map((id) => view.placeOf(id))", list(visitor.parents(forest_of(visitor))))
    assert len({round(place["x"]) for place in places}) >= 3, "two branches and the other tree are side by side"


def test_the_same_file_again_adds_nothing(visitor, dialog, tmp_path):
    path = kept(tmp_path, "conversations.json", EDITED)
    forest = visitor.plant(*BREAD)
    visitor.open(forest)
    open_dialog(visitor)
    choose(visitor, path)
    expect(dialog.get_by_label("This forest, Home")).to_be_checked()
    start(visitor)
    expect(visitor.page.get_by_test_id("import-done")).to_contain_text(f"{EDITED_TURNS} turns came in.", timeout=PATIENCE)
    assert len(visitor.parents(forest)) == EDITED_TURNS + len(BREAD)

    visitor.page.get_by_test_id("import-again").click()
    choose(visitor, path)
    start(visitor)
    done = visitor.page.get_by_test_id("import-done")
    expect(done).to_contain_text("Nothing new in this file.", timeout=PATIENCE)
    expect(done).to_contain_text(f"All {EDITED_TURNS} turns are here already.")
    assert len(visitor.parents(forest)) == EDITED_TURNS + len(BREAD)


def test_a_wrong_file_is_refused_in_plain_words(visitor, dialog, tmp_path):
    visitor.accept_errors("status of 400")
    page = visitor.page
    page.get_by_test_id("import").click()
    choose(visitor, kept(tmp_path, "notes.txt", "Dear diary, this is no export."))
    start(visitor)
    trouble = page.get_by_test_id("import-trouble")
    expect(trouble).to_contain_text("This file holds no conversations of a format we know.")
    expect(trouble).to_contain_text("Import conversations.json of ChatGPT or Claude")
    assert visitor.api("GET", "forests/")["results"] == [], "the forest made for it is taken back"

    page.get_by_test_id("app").evaluate(DROP, [[["a.json", "[]"], ["b.json", "[]"]], ["drop"]])
    expect(trouble).to_contain_text("One file at a time.")
    page.get_by_test_id("import-file").set_input_files(kept(tmp_path, "empty.json", ""))
    expect(trouble).to_contain_text("This file is empty.")
    expect(page.get_by_test_id("import-start")).to_be_disabled()
    page.evaluate("Object.defineProperty(Blob.prototype, 'size', { get: () => 201 * 1024 * 1024 })")
    page.get_by_test_id("import-file").set_input_files(kept(tmp_path, "large.json", EDITED))
    expect(trouble).to_contain_text("This file has 201 MiB; at most 200 MiB are taken.")


def test_what_an_archive_hides_fails_in_the_job_and_says_so(visitor, tmp_path):
    import zipfile

    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("pictures/cat.txt", "no conversations")
    forest = visitor.plant(*BREAD)
    visitor.open(forest)
    open_dialog(visitor)
    choose(visitor, path)
    start(visitor)
    failed = visitor.page.get_by_test_id("import-failed")
    expect(failed).to_contain_text("Nothing was imported.", timeout=PATIENCE)
    expect(failed.get_by_role("alert")).to_contain_text("There are no conversations of a format we know in this file.")
    visitor.page.get_by_test_id("import-again").click()
    expect(visitor.page.get_by_test_id("import-start")).to_be_disabled()


def test_a_running_import_is_seen_and_found_again(visitor, dialog, tmp_path):
    page = visitor.page

    def deaf(line):
        """What the worker refines on the way isn't told of: the page must look by itself."""
        server = line.connect_to_server()
        server.on_message(lambda message: None if "forest.changed" in message else line.send(message))

    page.route_web_socket(re.compile("/ws/forests/"), deaf)
    forest = visitor.plant(*BREAD)
    visitor.open(forest)
    open_dialog(visitor)
    choose(visitor, kept(tmp_path, "lines.jsonl", lines(MANY)))
    dialog.get_by_label("Let every turn find its own place").check()
    working, line = page.get_by_test_id("import-working"), page.get_by_test_id("import-line")
    bar = working.get_by_role("progressbar")
    with visitor.stack.holding(forest):
        start(visitor)
        expect(working).to_contain_text(re.compile(rf"\d+ of {MANY} turns"), timeout=PATIENCE)
        expect(bar).to_have_attribute("max", str(MANY))
        [job] = visitor.api("GET", f"jobs/?forest={forest}&status=open")["results"]
        assert job["import"]["relocalize"] is True
        first, before = float(bar.get_attribute("value")), drawn(visitor)
    counted = "SELECT count(*) FROM memory_interactionstate WHERE forest_id = %s"
    assert until(lambda: visitor.stack.rows(counted, forest)[0][0] > before + 2)

    with visitor.stack.holding(forest):
        assert until(lambda: float(bar.get_attribute("value")) > first)
        page.get_by_test_id("import-watch").click()
        expect(dialog).to_have_count(0)
        expect(line).to_contain_text(re.compile(rf"Importing \d+ of {MANY} turns"))
        assert until(lambda: drawn(visitor) > before), "the drawing grows while the import runs"

        expect(page).not_to_have_url(re.compile("dialog="))  # the address follows a moment later
        page.reload()
        visitor.ready()
        expect(line).to_contain_text(re.compile(rf"Importing \d+ of {MANY} turns"))
        page.get_by_test_id("import-details").click()
        expect(working).to_be_visible()
        page.wait_for_url(re.compile("dialog=import"))
        page.reload()
        visitor.ready()
        expect(working).to_be_visible()
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)

    expect(line).to_contain_text(f"{MANY} turns came in.", timeout=90_000)
    expect(page.get_by_test_id("announcer")).to_have_text(f"{MANY} turns came in.")
    expect(page.get_by_test_id("counts")).to_contain_text(f"{MANY + len(BREAD)} states")
    page.reload()
    visitor.ready()
    expect(line).to_contain_text(f"{MANY} turns came in.")  # waits until somebody has seen it
    page.get_by_test_id("import-dismiss").click()
    expect(line).to_have_count(0)
    page.reload()
    visitor.ready()
    expect(line).to_have_count(0)


def test_an_import_is_cancelled_on_its_way_and_says_what_is_kept(visitor, dialog, tmp_path):
    """Not a failure: what came in is there, and the same file goes on from it."""
    page, many = visitor.page, 400
    forest = visitor.plant(*BREAD)
    visitor.open(forest)
    open_dialog(visitor)
    path = kept(tmp_path, "lines.jsonl", lines(many))
    choose(visitor, path)
    dialog.get_by_label("Let every turn find its own place").check()
    start(visitor)
    counted = "SELECT count(*) FROM memory_interactionstate WHERE forest_id = %s"
    assert until(lambda: visitor.stack.rows(counted, forest)[0][0] > len(BREAD) + 3)
    page.get_by_test_id("import-cancel").click()
    cancelled = page.get_by_test_id("import-cancelled")
    expect(cancelled).to_be_focused()
    expect(page.get_by_test_id("import-failed")).to_have_count(0)
    [job] = visitor.api("GET", f"jobs/?forest={forest}&kind=import")["results"]
    assert until(lambda: visitor.api("GET", f"jobs/{job['id']}/")["message"].startswith("Cancelled: "))
    stayed = visitor.stack.rows(counted, forest)[0][0] - len(BREAD)
    assert 0 < stayed < many
    expect(cancelled).to_contain_text(f"Cancelled after {stayed} turns.")
    expect(cancelled).to_contain_text(f"The {stayed} turns that came in stay")
    expect(cancelled.get_by_role("alert")).to_have_count(0)
    assert findings(page) == []
    page.get_by_test_id("import-show").click()
    expect(page.get_by_test_id("counts")).to_contain_text(f"{stayed + len(BREAD)} states")
    expect(page).not_to_have_url(re.compile("dialog="))
    page.reload()
    visitor.ready()
    expect(page.get_by_test_id("import-line")).to_have_count(0)  # it was looked at

    open_dialog(visitor)
    choose(visitor, kept(tmp_path, "some.jsonl", "\n".join(lines(many).split("\n")[: stayed + 8])))
    start(visitor)
    done = page.get_by_test_id("import-done")
    expect(done).to_contain_text("8 turns came in.", timeout=PATIENCE)
    expect(done).to_contain_text(f"{stayed} turns were here already.")


def test_a_file_is_dropped_onto_the_page(visitor, dialog):
    page = visitor.page
    visitor.open(visitor.plant(*BREAD))
    target = page.get_by_test_id("forest")
    target.evaluate(DROP, [[["conversations.json", json.dumps(EDITED)]], ["dragenter", "dragover"]])
    expect(page.get_by_test_id("drop-veil")).to_be_visible()
    target.evaluate("element => element.dispatchEvent(new DragEvent('dragleave', { bubbles: true }))")
    expect(page.get_by_test_id("drop-veil")).to_have_count(0)
    target.evaluate(DROP, [[["conversations.json", json.dumps(EDITED)]], ["dragenter", "dragover", "drop"]])
    expect(page.get_by_test_id("drop-veil")).to_have_count(0)
    expect(page.get_by_test_id("import-file-name")).to_have_text("conversations.json")
    start(visitor)
    expect(page.get_by_test_id("import-done")).to_contain_text(f"{EDITED_TURNS} turns came in.", timeout=PATIENCE)


def test_with_the_keyboard_alone(visitor, dialog, tmp_path):
    page, path = visitor.page, kept(tmp_path, "conversations.json", EDITED)
    # Listened for from the start: the browser must know before the key is pressed that nobody sits before its own window.
    page.on("filechooser", lambda chooser: chooser.set_files(path))
    visitor.open(visitor.plant(*BREAD))
    page.get_by_test_id("menu-forest").focus()
    page.keyboard.press("Enter")
    entry = page.get_by_role("menuitem", name="Import chats…")
    expect(entry).to_be_visible()
    for _ in range(12):
        if entry.evaluate("element => element === document.activeElement"):
            break
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("import-file")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("import-file-name")).to_be_visible()
    expect(page.get_by_test_id("import-file")).to_be_focused()
    for _ in range(8):
        if page.get_by_test_id("import-start").evaluate("element => element === document.activeElement"):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    done = page.get_by_test_id("import-done")
    expect(done).to_be_visible(timeout=PATIENCE)
    expect(done).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(page.get_by_test_id("menu-forest")).to_be_focused()


def test_an_export_comes_back_equal_in_a_new_forest(visitor, dialog, tmp_path):
    page = visitor.page
    forest = visitor.plant(*BREAD, *KITCHEN)
    visitor.open(forest)
    page.get_by_test_id("menu-forest").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="Export as JSON").click()
    path = tmp_path / "home.json"
    download.value.save_as(path)

    open_dialog(visitor)
    choose(visitor, path)
    expect(dialog).to_contain_text("an export of ArborWeb")
    expect(dialog.get_by_label("A new forest")).to_be_checked()
    expect(page.get_by_test_id("import-name")).to_have_value("Home 2")
    expect(page.get_by_test_id("import-own")).to_have_count(0)  # it comes back as it was
    dialog.get_by_label("This forest, Home").check()
    start(visitor)
    expect(page.get_by_test_id("import-done")).to_contain_text("Nothing new in this file.", timeout=PATIENCE)

    other = visitor.plant({**KITCHEN[0], "id": "other"}, name="Another")
    visitor.open(other)
    open_dialog(visitor)
    choose(visitor, path)
    dialog.get_by_label("This forest, Another").check()
    start(visitor)
    failed = page.get_by_test_id("import-failed")
    expect(failed).to_contain_text("This forest has turns of its own.", timeout=PATIENCE)
    page.get_by_test_id("import-into-new").click()
    page.wait_for_url(re.compile(rf"/forests/(?!{other}/)\d+/"))
    expect(page.get_by_test_id("import-done")).to_contain_text("4 turns came in.", timeout=PATIENCE)
    assert texts(visitor, forest_of(visitor)) == {
        one["user"]: next((p["user"] for p in (*BREAD, *KITCHEN) if p["id"] == one.get("parent")), None) for one in (*BREAD, *KITCHEN)
    }


def test_a_forest_and_the_path_to_a_turn_are_saved_as_markdown(visitor, tmp_path):
    page = visitor.page
    forest = visitor.plant(*BREAD, *KITCHEN)
    visitor.open(forest)

    def saved(choose):
        with page.expect_download() as download:
            choose()
        download.value.save_as(tmp_path / "read.md")
        return (tmp_path / "read.md").read_text()

    page.get_by_test_id("menu-forest").click()
    whole = saved(lambda: page.get_by_role("menuitem", name="Export as Markdown").click())
    assert whole.startswith("# Home\n\n4 turns, 2 topics.")
    assert "Turn 4, Tue 3 March 2026, 12:10" in whole and "> The sink stays under the window." in whole

    _, starter, *_ = visitor.parents(forest)
    visitor.choose(starter)
    page.get_by_role("tree").focus()
    page.keyboard.press("Shift+F10")
    path = saved(lambda: page.get_by_role("menuitem", name="Save the path to it as Markdown").click())
    assert "The path to turn 2, of 4 turns." in path and "rye flour" in path and "sink" not in path

    page.get_by_test_id("tab-state").click()
    page.get_by_test_id("menu-state-more").click()
    assert saved(lambda: page.get_by_role("menuitem", name="Save the path to it as Markdown").click()).startswith("# Home\n\nThe path to turn 2")


def bring(visitor, forest, content):
    """An import that this page knows nothing of; waits until it is done."""
    job = visitor.api("POST", f"forests/{forest}/import/", content)["id"]
    assert until(lambda: visitor.api("GET", f"jobs/{job}/")["status"] == "done", PATIENCE / 1000)


def many(count, name="m"):
    """So many turns in one conversation, as lines of an import."""
    return [
        {
            "id": f"{name}{number}",
            "parent": f"{name}{number - 1}" if number else None,
            "time": f"2026-02-{1 + number // 60:02d}T08:{number % 60:02d}:00+01:00",
            "user": f"Entry {number} of the log book",
            "assistant": f"Written down as entry {number}, with its date and the weather of that day.",
        }
        for number in range(count)
    ]


def view_of(visitor):
    page = visitor.page
    return {
        "selected": page.evaluate("new URLSearchParams(location.hash.slice(1)).get('state')"),
        "camera": visitor.forest("view => Object.values(view.getCamera()).map((n) => Math.round(n * 10) / 10)"),
        "draft": visitor.message.input_value(),
        "scroll": page.get_by_test_id("turns").evaluate("box => Math.round(box.scrollTop)"),
        "top": page.get_by_test_id("turns").evaluate(
            "box => [...box.querySelectorAll('[data-testid=bubble]')].find((b) => b.getBoundingClientRect().bottom > box.offsetTop).textContent"
        ),
    }


def test_a_forest_that_changes_as_a_whole_keeps_the_view(visitor):
    page = visitor.page
    forest = visitor.plant(name="Log book")
    bring(visitor, forest, many(40))
    visitor.wait_until_refined(forest)
    visitor.open(forest)
    states = list(visitor.parents(forest))
    visitor.message.fill("Half a thought")
    visitor.open(forest, f"#state={states[8]}&at=30,4,0")
    page.get_by_test_id("turns").evaluate("box => (box.scrollTop = 900)")
    page.wait_for_timeout(400)
    before = view_of(visitor)
    assert (before["selected"], before["draft"], before["scroll"]) == (str(states[8]), "Half a thought", 900)

    bring(visitor, forest, EDITED)
    expect(page.get_by_test_id("counts")).to_contain_text(f"{40 + EDITED_TURNS} states", timeout=PATIENCE)
    expect(visitor.turns).to_have_count(40 + EDITED_TURNS)
    assert view_of(visitor) == before, "few turns: they stand below, unseen"
    visitor.wait_until_refined(forest)
    expect(page.get_by_test_id("lag")).to_have_text("Memory is up to date", timeout=PATIENCE)
    assert view_of(visitor) == before

    bring(visitor, forest, many(70, name="n"))
    expect(page.get_by_test_id("counts")).to_contain_text(f"{110 + EDITED_TURNS} states", timeout=PATIENCE)
    newer = page.get_by_test_id("newer")
    expect(newer).to_be_visible()
    assert view_of(visitor) == before, "many turns: what is read stays until its reader goes on"
    newer.click()
    expect(newer).to_have_count(0)
    expect(visitor.turns.last.get_by_test_id("bubble")).to_have_text("Entry 69 of the log book")
    expect(visitor.turns.last).to_be_in_viewport()
    expect(page.get_by_role("button", name="Earlier turns")).to_have_count(1)


def test_what_changed_while_the_line_was_down_is_there_when_it_is_back(visitor):
    visitor.accept_errors("WebSocket connection")
    page, lines_open, refuse = visitor.page, [], []

    def through(line):
        if refuse:
            line.close(code=1011)
            return
        line.connect_to_server()
        lines_open.append(line)

    page.route_web_socket(re.compile("/ws/forests/"), through)
    forest = visitor.plant(*BREAD)
    visitor.open(forest)
    expect(page.get_by_test_id("counts")).to_contain_text("2 states")
    page.wait_for_timeout(300)
    refuse.append(True)
    lines_open[-1].close(code=1011)
    expect(page.get_by_test_id("reconnecting")).to_be_visible()
    bring(visitor, forest, EDITED)
    visitor.wait_until_refined(forest)
    refuse.clear()
    expect(page.get_by_test_id("reconnecting")).to_have_count(0, timeout=PATIENCE)
    expect(page.get_by_test_id("counts")).to_contain_text(f"{2 + EDITED_TURNS} states", timeout=PATIENCE)
