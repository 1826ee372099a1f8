# Dossier. Only Python 3.11 to 3.13, pip and make are needed; uv comes into .venv-tools by itself.
# One that was built with its optimizations, as a distribution's own, takes a seventh less time than pyenv's: PY=/usr/bin/python3
PY ?= python3
UV := .venv-tools/bin/uv
BIN := .venv/bin
# litellm would otherwise download a price list while it is imported, and read a .env of its own finding.
export LITELLM_LOCAL_MODEL_COST_MAP = True
export LITELLM_MODE = PRODUCTION
# Modules are compiled once and kept, also where the surroundings forbid it: else each start takes twice as long.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: chaos load lint-frontend help run setup setup-dev browser test test-fast house check fmt lint types arch lock prompts bench bench-pg eval eval-model clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

$(UV):
	$(PY) -c 'import sys; sys.exit(not ((3, 11) <= sys.version_info < (3, 14)) and "Dossier needs Python 3.11, 3.12 or 3.13: make PY=python3.11 …")'
	$(PY) -m venv .venv-tools
	.venv-tools/bin/pip install --quiet --disable-pip-version-check 'uv>=0.9,<1'

# The development environment holds everything that the running one needs: either satisfies `run`.
.venv/.ok: requirements.lock $(UV)
	$(UV) venv --quiet --allow-existing --python $(PY) .venv
	if [ -f .venv/.dev ]; then $(UV) pip sync --quiet --require-hashes --python $(BIN)/python requirements-dev.lock; \
	else $(UV) pip sync --quiet --require-hashes --python $(BIN)/python requirements.lock; fi
	touch $@

.venv/.dev: requirements-dev.lock $(UV)
	$(UV) venv --quiet --allow-existing --python $(PY) .venv
	$(UV) pip sync --quiet --require-hashes --python $(BIN)/python requirements-dev.lock
	touch $@ .venv/.ok

setup: .venv/.ok ## the environment in .venv, from the hashed lock

setup-dev: .venv/.dev ## the same with test and lint tools

run: setup ## start the chat at http://localhost:8000 (PORT, DOSSIER_HOST)
	$(BIN)/python -m agents serve

browser:
	@sh .ci/browser

test: setup-dev browser ## all tests, the browser's included
	$(BIN)/python -m pytest --workers 4

test-fast: setup-dev ## unit, roles and research: no browser, no server, and not the files that run the most whole jobs
	$(BIN)/python -m pytest --workers 2 tests/unit tests/roles tests/research tests/test_architecture.py \
	  $(foreach file,bad_input case_documents cases context criteria faults forecast grades obedient settings_act truth weak_models,--ignore tests/research/test_$(file).py) --ignore tests/unit/test_headless_output.py \
	  --deselect tests/unit/test_model_names.py::test_the_providers_that_are_known_are_those_of_the_library \
	  --deselect tests/unit/test_security_promises.py::test_what_a_server_loads_and_opens_asks_nothing_of_the_network \
	  --deselect tests/unit/test_security_promises.py::test_the_telemetry_of_libraries_is_off

house: setup-dev ## count lines, files, layers, cycles and names used twice, as docs/architecture.md gives them
	$(BIN)/python -m tests.bench.house

fmt: setup-dev ## format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix-only --quiet .
	@if command -v npm >/dev/null 2>&1; then $(MAKE) --no-print-directory tests/frontend/node_modules/.ok && npm --prefix tests/frontend run --silent format >/dev/null; fi

lint: setup-dev lint-frontend ## format and lint, checking only
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

# The page's files need npm in development only; nothing is built from them.
tests/frontend/node_modules/.ok: tests/frontend/package-lock.json
	npm --prefix tests/frontend ci --silent
	touch $@

lint-frontend: ## format, lint and test the page's files, where npm is installed
	@if command -v npm >/dev/null 2>&1; then \
	  $(MAKE) --no-print-directory tests/frontend/node_modules/.ok && npm --prefix tests/frontend run --silent lint && npm --prefix tests/frontend test --silent; \
	else echo "NO NPM: the page's files were not linted"; fi

types: setup-dev ## mypy, strict, and that each field of a contract has a reader
	$(BIN)/python -m tests.typed

arch: setup-dev ## who may import whom
	$(BIN)/lint-imports

check: lint types arch test ## everything that must hold before a commit

prompts: setup-dev ## rewrite prompts/lock.toml after a prompt changed and its version went up
	$(BIN)/python -m tests.written_files

lock: $(UV) ## resolve the lock files anew
	$(UV) pip compile --universal --python-version 3.11 --generate-hashes --exclude-newer '7 days' --no-header --quiet --extra postgres --extra otel --extra qdrant pyproject.toml -o requirements.lock
	$(UV) pip compile --universal --python-version 3.11 --generate-hashes --exclude-newer '7 days' --no-header --quiet --extra postgres --extra otel --extra qdrant --group dev pyproject.toml -o requirements-dev.lock

bench: setup-dev ## measure the figures of docs/benchmarks.md on this machine
	$(BIN)/python tests/bench/offline.py
	$(BIN)/python tests/bench/pages.py
	$(BIN)/python -m tests.bench.loop
	$(BIN)/python -m tests.bench.deadline
	$(BIN)/python -m tests.bench.mock_world

eval: setup-dev ## measure quality on the labelled data, where it is at hand
	$(BIN)/python -m tests.bench.quality

eval-model: setup-dev ## the same with a model (MODEL, BASE; default: the local one) on the first questions of a set; resumable
	$(BIN)/python -m tests.bench.model_eval $(or $(DATA),../shared/data/multihop/hotpotqa_questions.jsonl) --rows $(or $(ROWS),/tmp/dossier-eval-model.jsonl) \
	  $(if $(MODEL),--model $(MODEL)) $(if $(BASE),--base $(BASE)) $(if $(LIMIT),--limit $(LIMIT)) $(if $(TOKENS),--tokens $(TOKENS))

chaos: setup-dev ## 300 whole jobs under seeded faults, and processes killed: nothing lost, stuck, or paid twice (minutes)
	$(BIN)/python -m tests.bench.chaos

load: setup-dev ## 100 chats and 50 jobs at once for ten minutes, an idle server, memory over 200 jobs
	$(BIN)/python -m tests.bench.load
	$(BIN)/python -m tests.bench.load --idle
	$(BIN)/python -m tests.bench.load --soak 200

bench-pg: setup-dev ## durable jobs: crashes at 20 moments on both databases, overhead, list of 10,000 (minutes)
	$(BIN)/python tests/bench/durable.py --all

clean:
	rm -rf .venv .venv-tools .pytest_cache .mypy_cache .ruff_cache
