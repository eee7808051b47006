# Two commands on a fresh machine with Python 3.11, pip and make: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test lint unit reproduce bench audit soak clean
.DEFAULT_GOAL := test

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "discreet needs Python 3.11 or newer"'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[fast,arrow,report,service,postgresql,test]'
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
	$(BIN)/pytest -n auto --dist worksteal

bench: $(STAMP)  ## ratios against peers and plain numpy; writes benchmarks/results
	$(BIN)/python -m benchmarks.noise
	$(BIN)/python -m benchmarks.speed
	sh benchmarks/peers/make_diffprivlib_env.sh
	$(BIN)/python -m benchmarks.linear_accuracy
	$(BIN)/python -m benchmarks.service --write

soak: $(STAMP)  ## long crash, race and corruption runs of the ledger and the collector; writes benchmarks/results
	$(BIN)/python tests/soak/ledger.py
	$(BIN)/python tests/soak/service.py

clean:
	rm -rf $(VENV) .venv-* demo build dist
