"""Sections of the measurements page."""

import pytest

from memory.evaluation.measurements import record


def test_a_section_is_replaced_whole_and_others_stay(tmp_path):
    page = tmp_path / "measurements.md"
    record("boot", [("first start", "9 s")], page=page, title="Starting", command="manage.py measure_boot")
    record("recall", [("p95", "30 ms | 40 ms")], page=page)
    record("boot", [("first start", r"4 s \1")], page=page, command="manage.py measure_boot")
    text = page.read_text()
    assert text.count("## Starting") == 1
    assert "9 s" not in text
    assert r"| first start | 4 s \1 |" in text
    assert r"| p95 | 30 ms \| 40 ms |" in text
    assert "Again: `manage.py measure_boot`" in text


def test_a_section_has_a_plain_name(tmp_path):
    with pytest.raises(ValueError, match="named by a-z"):
        record("Boot times -->", [], page=tmp_path / "m.md")
