"""Keys for programs: hashed, scoped, revocable."""

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from memory.api.authentication import hash_key, make_key
from memory.models import ApiKey
from tests.api.conftest import Caller
from tests.forests import plant

pytestmark = pytest.mark.django_db


def test_the_command_prints_a_key_once_and_keeps_its_hash(ines, capsys):
    call_command("create_api_key", "ines", "--name", "notebook")
    key = capsys.readouterr().out.strip()
    row = ApiKey.objects.get()
    assert row.key_hash == hash_key(key) and key not in str(vars(row))
    answer = Caller(headers={"authorization": f"Bearer {key}"}).ask("GET", "me/")
    assert answer.json()["username"] == "ines"
    with pytest.raises(CommandError, match="already has a key"):
        call_command("create_api_key", "ines", "--name", "notebook")
    with pytest.raises(CommandError, match="nobody called"):
        call_command("create_api_key", "nobody", "--name", "n")


def test_a_wrong_or_revoked_key_is_refused_even_beside_a_session(ines, as_ines):
    row, key = make_key(ines, "n")
    assert as_ines.ask("GET", "me/", headers={"authorization": "Bearer wrong"}).status_code == 401
    row.revoked_at = timezone.now()
    row.save()
    assert Caller(headers={"authorization": f"Bearer {key}"}).ask("GET", "me/").status_code == 401


def test_a_key_of_someone_shut_out_is_refused(ines):
    _, key = make_key(ines, "n")
    ines.is_active = False
    ines.save()
    assert Caller(headers={"authorization": f"Bearer {key}"}).ask("GET", "me/").status_code == 401


def test_a_reading_key_reads_and_recalls_but_writes_nothing(ines):
    forest = plant(ines)
    _, key = make_key(ines, "reader", ["read"])
    program = Caller(headers={"authorization": f"Bearer {key}"})
    assert program.ask("GET", f"forests/{forest.pk}/").status_code == 200
    answer = program.ask("POST", "forests/", {"name": "New"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "forbidden")
    assert program.ask("POST", f"forests/{forest.pk}/recall/", {"text": ""}).status_code == 400  # let in, then found empty


def test_last_used_is_written_once_in_a_while(ines, django_assert_num_queries):
    row, key = make_key(ines, "n")
    program = Caller(headers={"authorization": f"Bearer {key}"})
    program.ask("GET", "me/")
    row.refresh_from_db()
    first = row.last_used_at
    assert first is not None
    program.ask("GET", "me/")
    row.refresh_from_db()
    assert row.last_used_at == first


def test_a_session_needs_the_csrf_token_and_a_key_does_not(ines):
    browser = Caller(enforce_csrf_checks=True)
    browser.force_login(ines)
    answer = browser.ask("PATCH", "me/", {"time_zone": "Europe/Lisbon"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "forbidden")
    assert "CSRF" in answer.json()["error"]["message"]
    _, key = make_key(ines, "n")
    program = Caller(enforce_csrf_checks=True, headers={"authorization": f"Bearer {key}"})
    assert program.ask("PATCH", "me/", {"time_zone": "Europe/Lisbon"}).status_code == 200
