"""Django admin over every table, for looking and for the same actions as the page. Nothing is added, edited or deleted here directly:
what an action does goes through `memory/actions`, with their rules, their audit and no content in any log. What takes many rows is a job
(bulk.py). Superusers only; the staff sees how the service does (health.py), and nothing that anybody said.
"""

from memory.admin import bulk, evidence, forests, people, traces, work

__all__ = ["bulk", "evidence", "forests", "people", "traces", "work"]
