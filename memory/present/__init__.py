"""Rows → the JSON of docs/interfaces.md, for REST, socket messages and exports alike. Reads only; takes rows the caller may see."""

from memory.present.changes import change_json, change_list, move_list
from memory.present.evidence import evidence_json, evidence_list, revision_json, revision_list
from memory.present.forests import forest_json, forest_list, job_json, job_list, me_json
from memory.present.health import health_json
from memory.present.live import committed, localized, recalled, refined
from memory.present.model import models_json
from memory.present.states import state_json, state_row, state_rows, tree_row, tree_rows
from memory.present.turns import chips, decision_json, trace_json, turn_json, turn_list

__all__ = [
    "change_json",
    "change_list",
    "chips",
    "committed",
    "decision_json",
    "evidence_json",
    "evidence_list",
    "forest_json",
    "forest_list",
    "health_json",
    "job_json",
    "job_list",
    "localized",
    "me_json",
    "models_json",
    "move_list",
    "recalled",
    "refined",
    "revision_json",
    "revision_list",
    "state_json",
    "state_row",
    "state_rows",
    "trace_json",
    "tree_row",
    "tree_rows",
    "turn_json",
    "turn_list",
]
