"""The pure core: values in, a plan out. No Django, no network, no clock, no randomness (held by import-linter and ruff)."""
