# Every target makes .venv itself when it is missing; a second run installs nothing.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
RUN    := $(VENV)/.installed-run
DEV    := $(VENV)/.installed-dev
DOCS   := $(VENV)/.installed-docs
# Rooms whose tests call compilers, debuggers and simulators.
TOOLS  := board bsp image sim

# Commands and simulators that tests start load our modules from bytecode, whatever the shell says.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo quick test test-all bench synth formal lint lint-python format schemas docs clean

demo: $(RUN)
	$(BIN)/python examples/01_digits/demo.py

test: lint
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow" -q

quick: lint-python
	ATOLL_EFFORT=quick $(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow and not rtl" -q \
	  tests/unit tests/golden $(TOOLS:%=--ignore=tests/unit/%)

test-all: lint $(DOCS)
	ATOLL_EFFORT=all $(BIN)/python -m pytest -n 2 --dist worksteal -q

bench: $(DEV)
	$(BIN)/python -m benchmarks.simulator
	$(BIN)/python -m benchmarks.instructions $(or $(NETWORKS),examples/01_digits/digits_int8.tflite)
	$(BIN)/python -m benchmarks.estimate $(NETWORKS)
	$(BIN)/python -m benchmarks.compile_time
	$(BIN)/python -m benchmarks.points $(if $(MODELS),--models $(MODELS)) \
	  $(if $(AGAINST),--against $(AGAINST))
	$(BIN)/python -m benchmarks.sweeps --points 500 $(if $(MODELS),--models $(MODELS))
	$(BIN)/python -m benchmarks.planner $(if $(MINIMALLOC),--minimalloc $(MINIMALLOC)) \
	  $(if $(INSTANCES),--instances $(INSTANCES))

synth: $(DEV)
	nice $(BIN)/python -m benchmarks.synthesis --write

formal: $(DEV)
	$(BIN)/python -m benchmarks.formal $(MODULES)

lint: lint-python
	$(BIN)/python -m atoll_sim.build.lint tests/benches/rtl tests/formal/rtl

lint-python: $(DEV)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy -n 2
	$(BIN)/lint-imports

format: $(DEV)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

schemas: $(RUN)
	$(BIN)/atoll schema --write schemas

docs: $(DOCS)
	$(BIN)/python -m sphinx -W --keep-going -q -c docs/site . build/site

$(RUN): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(DEV): $(RUN)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $@

$(DOCS): $(RUN)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	touch $@

clean:
	rm -rf build
