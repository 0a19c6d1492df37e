"""Importing over REST: the file as a field or as the body, a job that says what came of it, and limits."""

import io
import json
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from memory.actions import import_chat as importing
from memory.actions.create_forest import create_forest
from memory.models import Forest, Import, InteractionState, Job
from memory.store import uploads
from tests.imports.samples import gpt

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("uploads_folder")]

POTS = [gpt({"u1": (None, "user", "Which pot?"), "a1": ("u1", "assistant", "Clay."), "a2": ("u1", "assistant", "Any.")})]


@pytest.fixture
def forest(ines):
    return create_forest(ines, "Old chats")


@pytest.fixture
def path(forest):
    return f"forests/{forest.pk}/import/"


def send(caller, path, content, media="application/json", **query):
    asked = "&".join(f"{name}={value}" for name, value in query.items())
    return caller.generic("POST", f"/api/{path}?{asked}", data=content, content_type=media)


def zipped():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("conversations.json", json.dumps(POTS))
    return file.getvalue()


@pytest.mark.parametrize(
    ("media", "content"),
    [
        ("application/json", json.dumps(POTS)),
        ("application/octet-stream", json.dumps(POTS)),
        ("application/zip", zipped()),
        ("application/x-ndjson", '{"id": "a", "user": "One", "parent": null}\n{"id": "b", "user": "Two", "parent": "a"}\n'),
    ],
)
def test_a_body_is_taken_as_a_file_and_the_job_says_what_came_of_it(as_ines, forest, path, media, content):
    answer = send(as_ines, path, content, media)
    assert answer.status_code == 202, answer.content
    job = answer.json()
    assert (job["kind"], job["status"], job["forest"]) == ("import", "waiting", forest.pk)
    importing.run(job["id"])
    job = as_ines.ask("GET", f"jobs/{job['id']}/").json()
    assert (job["status"], job["done"], job["total"]) == ("done", 2, 2)
    assert (job["import"]["new"], job["import"]["known"], job["import"]["lines"][:0]) == (2, 0, [])
    assert InteractionState.objects.count() == 2


def test_a_form_brings_a_file_and_whether_to_relocalize(as_ines, path, settings):
    settings.FILE_UPLOAD_MAX_MEMORY_SIZE = 100  # through a file of Django's
    file = SimpleUploadedFile("conversations.json", json.dumps(POTS).encode(), content_type="application/json")
    answer = as_ines.post(f"/api/{path}", {"file": file, "relocalize": "true"}, format="multipart")
    assert answer.status_code == 202, answer.content
    assert Import.objects.get().relocalize
    answer = as_ines.post(f"/api/{path}", {"relocalize": "true"}, format="multipart")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid")


@pytest.mark.parametrize(
    ("content", "media", "status", "code"),
    [
        ("", "application/json", 400, "invalid"),
        ("[1, 2", "application/json", 400, "invalid"),
        (b"\x00\xff" * 50, "application/zip", 400, "invalid"),
        ("x", "text/plain", 400, "invalid"),
        ("[" + " " * (3 << 20), "application/json", 413, "too_large"),
    ],
)
def test_what_is_no_import_is_refused_and_not_kept(as_ines, path, settings, uploads_folder, content, media, status, code):
    settings.MAX_IMPORT_MB = 2
    answer = send(as_ines, path, content, media)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert not Job.objects.exists() and (not uploads_folder.exists() or list(uploads_folder.iterdir()) == [])


def test_a_running_import_is_found_again(as_ines, as_omar, ines, forest, path):
    ids = [send(as_ines, path, json.dumps(POTS)).json()["id"] for _ in range(3)]
    other = send(as_ines, f"forests/{create_forest(ines, 'Another').pk}/import/", json.dumps(POTS)).json()["id"]
    importing.run(ids[0])

    def found(caller=as_ines, **query):
        answer = caller.ask("GET", "jobs/?" + "&".join(f"{name}={value}" for name, value in query.items()))
        return [job["id"] for job in answer.json()["results"]], answer.json()["next"]

    assert found() == ([other, *ids[::-1]], None), "newest first"
    assert found(forest=forest.pk, kind="import", status="open") == (ids[:0:-1], None)
    assert found(forest=forest.pk, status="done") == ([ids[0]], None)
    assert found(kind="sample") == ([], None)
    assert found(forest=forest.pk, limit=2) == ([ids[2], ids[1]], ids[1])
    assert found(forest=forest.pk, limit=2, before=ids[1]) == ([ids[0]], None)
    assert found(as_omar) == ([], None)
    assert as_ines.ask("GET", f"jobs/?forest={forest.pk}&status=odd").status_code == 400
    [newest, *_] = as_ines.ask("GET", f"jobs/?forest={forest.pk}").json()["results"]
    assert newest == as_ines.ask("GET", f"jobs/{ids[2]}/").json()


def test_other_requests_keep_their_own_limit(as_ines, path):
    answer = send(as_ines, path.replace("import", "observe"), "{" + " " * (5 << 20))
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")


def test_omar_can_import_nothing_into_it(as_omar, path, uploads_folder):
    assert send(as_omar, path, json.dumps(POTS)).status_code == 404
    assert not uploads_folder.exists() and not Job.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_the_worker_imports_and_refines(ines, worker, settings):
    """The whole way: a real worker, which keeps uploads where its own settings say."""
    from tests.api.conftest import Caller

    settings.UPLOADS_DIR = uploads_of_the_worker()
    forest = create_forest(ines, "Old chats")
    job = send(Caller(ines), f"forests/{forest.pk}/import/", json.dumps(POTS)).json()
    assert until(lambda: Job.objects.get(pk=job["id"]).status == "done")
    assert until(lambda: not InteractionState.objects.in_forest(forest).filter(refined_at=None).exists())
    assert InteractionState.objects.in_forest(Forest.objects.get(pk=forest.pk)).count() == 2
    assert until(lambda: not uploads.folder_of(job["id"]).exists())


def uploads_of_the_worker():
    from arborweb.home import home

    return home() / "uploads"


def until(condition, seconds=20):
    import time

    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return condition()
