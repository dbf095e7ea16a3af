# Every target sets up .venv first: once, and again when pyproject.toml or constraints.txt change.
# ARGS goes through to the program: make train ARGS="--help"

PYTHON ?= python3
VENV   ?= .venv
JOBS   ?= 2
ARGS   ?=

BIN   := $(VENV)/bin
GUEST := $(VENV)-clients
PIP   := $(BIN)/python -m pip --quiet --disable-pip-version-check
READY := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help setup train test test-slow test-jit test-oldest search library compile bounds mutants coverage test-clients bench lint format docs site check-page release clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo '  PYTHON=$(PYTHON) VENV=$(VENV) JOBS=$(JOBS); ARGS="..." goes through to the program'

setup: $(READY)  ## create .venv and install everything

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed, e.g. make PYTHON=python3.12 setup")'
	@echo 'Setting up $(VENV) (once; minutes, most of it the download of PyTorch) ...'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) install "$$(grep '^torch==' constraints.txt)"  # on its own: resolved with the rest, pip may fetch a larger build
	@$(PIP) install -c constraints.txt hatchling editables
	@$(PIP) install -c constraints.txt --no-build-isolation -e '.[all]'  # else pip would fetch what only wheels are built with
	@touch $@
	@echo 'Set up.'

library: $(READY)
	@$(BIN)/python -m monopoly_env.compiled --if-needed || echo 'There is no library of compiled code: Numba compiles while programs run.'

train: library  ## train an agent for some minutes, with a table of its win rates at the end
	$(BIN)/python -m training.dqn $(ARGS)

test: library  ## run the tests, but for the slow ones
	$(BIN)/python -m pytest -n $(JOBS) -m "not slow" $(ARGS)

test-slow: library  ## run the slow tests: notebooks, clusters, compilers, statistics
	$(BIN)/python -m pytest -n $(JOBS) -m slow $(ARGS)

test-jit: library  ## run all tests with Numba in place of the library, and compare the two
	MONOPOLY_ENV_COMPILED=0 $(BIN)/python -m pytest -n $(JOBS) $(ARGS)

search: library  ## look for faults for hours: state machines, random positions, and disks that fail, with many more examples
	$(BIN)/python -m pytest --hypothesis-profile search -k machine $(ARGS)
	$(BIN)/python -m pytest --hypothesis-profile search tests/monopoly_env/test_oracle.py tests/pente_env/test_oracle.py
	$(BIN)/python -m tests.faults --seeds 1000

compile: $(READY)  ## compile the library ahead of time: two minutes, then nothing compiles at a first game
	$(BIN)/python -m monopoly_env.compiled $(ARGS)

bounds: $(READY)  ## play with checks of every index
	$(BIN)/python -m pytest tests/bounds $(ARGS)

mutants: $(READY)  ## change the rulebook a little, 300 times, and count how often its tests notice
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m tests.mutants $(ARGS)

coverage: $(READY)  ## count the branches of the rulebook that its tests reach, in plain Python; all but the longest tests
	@$(BIN)/coverage erase
	NUMBA_DISABLE_JIT=1 $(BIN)/coverage run -m pytest -n $(JOBS) tests/monopoly_env/engine tests/monopoly_env/test_quirks.py -k "not every_winner_pays and not come_to_an_end and not one_building_at_a_time" $(ARGS)
	@$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --fail-under 100

$(GUEST)-%/.installed: pyproject.toml tests/clients/%.txt
	@test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	@$(@D)/bin/python -m pip --quiet --disable-pip-version-check install "$$(grep '^torch==' constraints.txt)"
	@$(@D)/bin/python -m pip --quiet --disable-pip-version-check install hatchling editables
	@$(@D)/bin/python -m pip --quiet --disable-pip-version-check install -c tests/clients/$*.txt --no-build-isolation -e '.[clients-$*]'
	@touch $@

test-clients: $(GUEST)-pinned/.installed $(GUEST)-newest/.installed $(GUEST)-agilerl/.installed  ## let other libraries play, in environments of their own
	@$(GUEST)-pinned/bin/python -m pip --quiet --disable-pip-version-check install --no-deps gymnasium==1.2.0
	$(GUEST)-pinned/bin/python -m pytest -W default tests/clients/test_gymnasium.py
	@$(GUEST)-pinned/bin/python -m pip --quiet --disable-pip-version-check install --no-deps gymnasium==1.2.2
	CLIENTS="torchrl tianshou ray sb3_contrib" $(GUEST)-pinned/bin/python -m pytest -W default tests/clients $(ARGS)
	CLIENTS="supersuit pyspiel textarena datasets minari d3rlpy" $(GUEST)-newest/bin/python -m pytest -W default tests/clients --ignore tests/clients/test_gymnasium.py $(ARGS)
	CLIENTS="agilerl" $(GUEST)-agilerl/bin/python -m pytest -W default tests/clients/test_page.py $(ARGS)

OLDEST := $(VENV)-oldest/bin

test-oldest: library  ## test the core and the arena with the oldest versions of what they need
	@test -x $(OLDEST)/python || $(PYTHON) -m venv $(VENV)-oldest
	@$(OLDEST)/python -m pip --quiet --disable-pip-version-check install uv
	@$(OLDEST)/uv pip compile --quiet --python $(OLDEST)/python --resolution lowest-direct --extra jit --extra results --extra pictures pyproject.toml -o $(OLDEST)/oldest.txt
	@$(OLDEST)/uv pip install --quiet --python $(OLDEST)/python -r $(OLDEST)/oldest.txt pytest==8.3.0 hypothesis==6.120.0 choix
	PYTHONPATH=src $(OLDEST)/python -m pytest -W default $(addprefix tests/monopoly_env/,engine test_core.py test_aec.py test_encoding.py test_golden.py test_rewards.py test_records.py test_replays.py) tests/agents/arena $(ARGS)

bench: $(READY)  ## measure the speed
	$(BIN)/python benchmarks/run.py $(ARGS)

lint: $(READY)  ## check style, types and the layers of imports
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: $(READY)  ## fix what can be fixed automatically
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

docs: $(READY)  ## write the generated pages and pictures of docs/
	$(BIN)/python -m monopoly_env.reference $(ARGS)
	$(BIN)/python -m agents.reference $(ARGS)
	$(BIN)/python docs/packages.py $(ARGS)

site: $(READY)  ## build the documentation site in site/, with the API reference, the library for browsers and the table in play/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict $(ARGS)
	$(BIN)/python -m monopoly_env.compiled --target wasm32 --out site/browser
	$(BIN)/python -m monopoly_table --static site/play
	cp -r site/browser site/play/library

check-page:  ## check the types of the page's modules; needs node
	npx --yes -p typescript tsc -p src/monopoly_table/page/jsconfig.json

release: $(READY)  ## build the wheels of all systems and the sdist in dist/, and try this system's without Numba; uploads nothing
	PYTHONPATH=. $(BIN)/python -m tests.check_release $(ARGS)

clean:  ## remove .venv and what tools left behind
	rm -rf $(VENV) $(VENV)-oldest $(GUEST)-* build dist site .hypothesis .coverage .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
