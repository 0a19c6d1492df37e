"""The made-up export: the same for a seed, and with everything in it that an import has to keep."""

from memory.evaluation.importing import write_export
from memory.imports import read, survey


def test_it_is_made_by_seed_and_has_branches(tmp_path):
    sizes = [write_export(tmp_path / name, 1, seed) for name, seed in (("a", 1), ("b", 1), ("c", 2))]
    a, b, c = ((tmp_path / name).read_bytes() for name in "abc")
    assert a == b != c and sizes[0] == sizes[1] > 10
    surveyed = survey([(tmp_path / "a", "a")])
    given = [one for found in surveyed.found for one in read(surveyed, found).given]
    assert surveyed.total == len(given) and surveyed.notes == []
    parents = [one.parent for one in given if one.parent]
    assert len(parents) > len(set(parents)) and len({one.question for one in given}) < len(given)
