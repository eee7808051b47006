# Two commands on a fresh machine with Python 3.11, pip and make: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo dist docs test test-processors test-js test-spark lint unit reproduce reproduce-full reproduce-status bench audit soak mutants fuzz clean bench-spark
.DEFAULT_GOAL := test

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "discreet needs Python 3.11 or newer"'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[fast,arrow,dask,formula,report,service,postgresql,test]'
	touch $(STAMP)

demo: $(STAMP)
	$(BIN)/discreet demo --out demo

test: lint unit

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: $(STAMP)
	$(BIN)/pytest -n auto --dist worksteal $(PYTEST_MORE)

test-processors: $(STAMP)  ## the whole suite with the loops of other processors; prints a table
	$(BIN)/python tests/processors.py $(PYTEST_MORE)

test-js:  ## the JavaScript client; needs Node 20 and npm
	cd clients/js && npm ci --no-audit --no-fund --silent && npm test --silent

# One process for each session: Spark has one in a process.
test-spark: $(STAMP)  ## Spark frames, classic and Connect, and a killed executor; needs Java 17
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[spark]'
	DISCREET_TEST_SPARK=1 $(BIN)/pytest tests/spark/test_spark_classic.py
	DISCREET_TEST_SPARK=1 $(BIN)/pytest tests/spark/test_spark_connect.py
	DISCREET_TEST_SPARK=1 $(BIN)/pytest tests/spark/test_spark_executor.py

bench: $(STAMP)  ## ratios against peers and plain numpy; writes benchmarks/results
	$(BIN)/python -m benchmarks.noise
	$(BIN)/python -m benchmarks.speed
	$(BIN)/python -m benchmarks.descent_speed
	$(BIN)/python -m benchmarks.engines stream dask growth
	sh benchmarks/peers/make_diffprivlib_env.sh
	$(BIN)/python -m benchmarks.linear_accuracy
	$(BIN)/python -m benchmarks.accuracy
	$(BIN)/python -m benchmarks.sparse accuracy
	$(BIN)/python -m benchmarks.sparse size
	$(BIN)/python -m benchmarks.service --write
	$(BIN)/python -m benchmarks.local_reports --write
	$(BIN)/python -m benchmarks.local_browser --write

reproduce: $(STAMP)  ## the papers' tables and figures on small grids, in half an hour; resumable; writes experiments
	$(BIN)/python -m experiments --quick

reproduce-full: $(STAMP)  ## the papers' sizes and repeats, and the coverage of intervals: days on 2 cores; resumable
	$(BIN)/python -m experiments

reproduce-status: $(STAMP)  ## which of the papers' figures are done, and how many hours are missing
	$(BIN)/python -m experiments --status

audit: $(STAMP)  ## every estimator, every planted bug, a broken library, tracing attacks; fails if a bug is not caught
	$(BIN)/pytest -n auto --dist worksteal tests/unit/audit tests/contracts/test_replay_audit.py tests/contracts/test_search_replay.py \
		tests/contracts/test_planted_bugs.py
	test -x .venv-diffprivlib/bin/python || sh benchmarks/peers/make_diffprivlib_env.sh
	$(BIN)/python -m experiments.attack_suite
	$(BIN)/python -m experiments.attack_tracing

bench-spark: $(STAMP)  ## overhead of a pass over a Spark frame; needs Java 17
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[spark]'
	$(BIN)/python -m benchmarks.engines spark

soak: $(STAMP)  ## long crash, race and corruption runs of the ledger and the collector; writes benchmarks/results
	$(BIN)/python tests/soak/ledger.py
	$(BIN)/python tests/soak/service.py

SAMPLE ?= 400
mutants: $(STAMP)  ## does a test notice each small change to the code that privacy rests on? SAMPLE=0: all of them
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[mutants]'
	$(BIN)/python tests/mutants/run.py --sample $(SAMPLE) --workers 2 $(MUTANTS_MORE)

fuzz: $(STAMP)  ## a million odd tasks, records and reports to the clients in both languages; needs Node 20
	$(BIN)/python tests/soak/local_fuzz.py

docs: $(STAMP)  ## the documentation site, without a network; a warning is an error; writes build/docs
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[docs]'
	rm -rf docs/api/generated
	$(BIN)/python -m sphinx -W --keep-going -q -b html -d build/doctrees docs build/docs
	@echo "build/docs/index.html"

dist: $(STAMP)  ## wheel and sdist, looked into; README's example from the wheel in new environments; writes dist
	$(BIN)/python -m pip install --quiet --constraint constraints.txt hatchling
	$(BIN)/python tests/packages/check.py

clean:
	rm -rf $(VENV) .venv-* demo build dist docs/api/generated
