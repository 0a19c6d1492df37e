"""REST (docs/interfaces.md): a view checks, calls one function and shapes the answer. One file a noun."""
