# `make run` sets everything up and starts; `make check` is what CI runs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The council itself is covered to the last branch.
COVERED := --cov=council --cov-branch --cov-report=term-missing:skip-covered --cov-fail-under=100
Q ?= Why is the sky blue?
KILLS ?= 200
ROUNDS ?= 400

# Each of the many processes that the tests start would compile everything again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run ask test nightly check fix soak soak-cluster bench clients hostile pictures docs lock

help: ## show this
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile

run: $(VENV)/.run ## set everything up and serve the page, on models that install with it
	@$(BIN)/council serve --local

ask: $(VENV)/.run ## one round: make ask Q="Why is the sky blue?"
	@$(BIN)/council ask --local "$(Q)"

# Four files at a time: most tests wait for a process of the product.
test: $(VENV)/.dev ## set everything up and run every test
	$(BIN)/python -m pytest -n 4

nightly: $(VENV)/.dev ## what takes too long for every commit: simulations, long property runs, soaks, the browser matrix
	$(BIN)/python -m pytest -n 4 -m "nightly or hypothesis" --hypothesis-profile=nightly
	$(BIN)/python -m tests.clients

check: $(VENV)/.dev ## format, lint, types, import contracts, tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --num-workers 2
	$(BIN)/lint-imports
	$(MAKE) --no-print-directory test PYTEST_ADDOPTS="$(COVERED) $(PYTEST_ADDOPTS)"

fix: $(VENV)/.dev ## format, and fix what can be fixed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

soak: $(VENV)/.dev ## kill -9 at random moments: make soak KILLS=200 ROUNDS=400, or OF=slack KILLS=100
	@KILLS=$(KILLS) ROUNDS=$(ROUNDS) $(BIN)/python -m tests.soak$(addprefix .,$(OF))

soak-cluster: ROUNDS = 300
soak-cluster: $(VENV)/.dev ## three processes on one Postgres, killed, frozen, cut off: make soak-cluster ROUNDS=300 BAD=1
	@ROUNDS=$(ROUNDS) $(BIN)/python -m tests.soak.cluster

bench: $(VENV)/.dev ## overhead of a round, next to rivals where they can be installed; start-up; speed of page, API, leaderboard, matrix, bias, studies, chain, cluster and chats
	$(BIN)/python -m tests.bench.overhead --rivals
	$(BIN)/python -m tests.bench.grace
	$(BIN)/python -m tests.bench.cpu
	$(BIN)/python -m tests.bench.startup
	$(BIN)/python -m tests.bench.transactions
	$(BIN)/python -m tests.bench.page
	$(BIN)/python -m tests.bench.stored_rounds
	$(BIN)/python -m tests.bench.api
	$(BIN)/python -m tests.bench.leaderboard
	$(BIN)/python -m tests.bench.matrix
	$(BIN)/python -m tests.bench.headlines
	$(BIN)/python -m tests.bench.trials
	$(BIN)/python -m tests.bench.verdict
	$(BIN)/python -m tests.bench.llmbar
	$(BIN)/python -m tests.bench.aggregation
	$(BIN)/python -m tests.bench.methods
	-$(BIN)/python -m tests.bench.knockout # misses its target; docs/research/method.md says by how much
	$(BIN)/python -m tests.bench.bias_report
	$(BIN)/python -m tests.bench.chairman
	$(BIN)/python -m tests.bench.study
	$(BIN)/python -m tests.bench.chain
	$(BIN)/python -m tests.bench.cluster
	$(BIN)/python -m tests.bench.chats

clients: $(VENV)/.dev ## ask with 14 real clients of OpenAI's API, installed outside of the repository: make clients ONLY="llm aider"
	@$(BIN)/python -m tests.clients $(if $(ONLY),$(ONLY),--write)

hostile: $(VENV)/.dev ## attack the product as a process: hostile providers, suite bombs, large bodies, guesses
	@$(BIN)/python -m tests.hostile

pictures: $(VENV)/.dev ## retake the pictures in the documents with Debian's chromium
	$(BIN)/python -m tests.bench.pictures

docs: $(VENV)/.dev ## regenerate docs/cli.md from the commands, and the graph of packages
	$(BIN)/python -m tests.docs.cli_reference
	$(BIN)/python -m tests.docs.package_graph

lock: $(VENV)/.dev ## regenerate requirements*.txt from pyproject.toml
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --generate-hashes --no-header --no-annotate --extra all pyproject.toml -o requirements.txt
	$(BIN)/uv pip compile --quiet --generate-hashes --no-header --no-annotate --extra all --extra dev -c requirements.txt pyproject.toml -o requirements-dev.txt

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# uv installs in a quarter of pip's time; pip does where uv does not know the index.
define install
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv 2>/dev/null || true
	@VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install --quiet --require-hashes -r $(1) 2>/dev/null || \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(1)
endef

$(VENV)/.run: requirements.txt pyproject.toml | $(VENV)/bin/python
	@echo "Installing the packages (about 400 MB on disk, once) …"
	$(call install,requirements.txt)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $@

$(VENV)/.dev: requirements-dev.txt $(VENV)/.run
	$(call install,requirements-dev.txt)
	@touch $@
