"""Rows ↔ values: the only room that knows both Django's models and the engine's values, and the only one with SQL of its own.

read.py     states, paths, the timeline
recall.py   the channels of hybrid recall
evidence.py facts and records for a query
write.py    the rough commit
refine.py   the refined commit
"""
