# A bare clone needs only Python 3.11 or newer and make: every target builds the environment it uses.
#   make demo    first result          make test    what every change must pass
PYTHON ?= python3
VENV   := .venv
BENCH  := .venv-bench
NEWEST := .venv-newest
COMPANIONS := .venv-companions
NEWER  := $(firstword $(foreach p,python3.14 python3.13 python3.12,$(shell $(p) -c 'import sys; print(sys.executable)' 2>/dev/null)))
# WecOptTool 3.3 where it is installed (pip install wecopttool==3.3.0 in an environment of its own)
WECOPT ?= .venv-wecopttool
# MoorPy 1.3 where it is installed (pip install moorpy==1.3.0 in an environment of its own)
MOORPY ?= .venv-moorpy
# MoorDyn 2.7 where it is installed (pip install moordyn==2.7.2 in an environment of its own)
MOORDYN ?= .venv-moordyn
BIN    := $(VENV)/bin
PIP    := -m pip --disable-pip-version-check install --quiet -c constraints.txt
# The build tool comes from the pinned list as well, so nothing is fetched behind its back.
EDITABLE := --no-build-isolation -e

.DEFAULT_GOAL := help
.PHONY: help setup viewer demo test test-all newest companions validate bench tables docs lint format clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/dev.stamp  ## environment with everything for development

demo: $(VENV)/runtime.stamp  ## a first simulation, results in out/demo
	$(BIN)/swelltree demo --out out/demo

test: lint  ## style, types, layers and the quick tests
	$(BIN)/pytest -n auto

test-all: lint newest  ## the same with the slow tests, and machine code on the newest JAX
	$(BIN)/pytest -n auto -m ""

newest:  ## machine code on the newest JAX, which may need a newer Python
ifeq ($(NEWER),)
	@echo "newest: skipped: there is no Python 3.12 or later here"
else
	test -d $(NEWEST) || $(NEWER) -m venv $(NEWEST)
	$(NEWEST)/bin/pip install --quiet --upgrade -e ".[campaign]" pytest pytest-xdist hypothesis beartype
	$(NEWEST)/bin/python -m pytest -n auto tests/jit tests/spatial/test_engine.py tests/waves/test_stream_function.py \
		tests/studies/time/test_engine_of_runs.py tests/studies/batch
endif

companions: $(VENV)/dev.stamp  ## what touches gymnasium, meshio, MHKiT and Jupyter, with them beside the pinned versions
	test -d $(COMPANIONS) || $(PYTHON) -m venv $(COMPANIONS)
	$(COMPANIONS)/bin/pip install --quiet -c constraints.txt gymnasium meshio "mhkit[wave,loads]==1.1.2" nbclient ipykernel
	PYTHONPATH=$(CURDIR)/src:$$($(BIN)/python -c 'import site; print(site.getsitepackages()[0])') \
		$(COMPANIONS)/bin/python -m pytest -m "" -rs tests/describe/test_memory_meshes.py \
		tests/report/test_live.py tests/examples/test_examples.py tests/campaigns/test_mhkit.py tests/campaigns/test_power.py \
		-k "meshio or gymnasium or jupyter or mhkit"

validate: $(VENV)/runtime.stamp  ## compare with papers, closed forms and other codes
	$(BIN)/swelltree validate

bench: $(VENV)/runtime.stamp $(BENCH)/peers.stamp  ## speed, side by side with MuJoCo and Pinocchio
	$(BIN)/python benchmarks/run.py --peers $(BENCH)/bin/python
	$(BIN)/python benchmarks/wecopttool.py --peer $(WECOPT)/bin/python
	$(BIN)/python benchmarks/quasi_static.py --peer $(MOORPY)/bin/python
	$(BIN)/python benchmarks/moorings.py --peer $(MOORDYN)/bin/python

tables: $(VENV)/dev.stamp $(BENCH)/peers.stamp  ## write the tables of the pages again, from what the commands find
	$(BIN)/swelltree validate --write docs/tables/validation.md
	$(BIN)/python docs/combinations.py
	$(BIN)/python docs/radiation_orders.py
	$(BIN)/python benchmarks/run.py --peers $(BENCH)/bin/python --markdown docs/tables/benchmarks.md

docs: $(VENV)/dev.stamp  ## the pages, in docs/_build/html
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

viewer:  ## build the viewer of reports again; needs node, which nothing else does
	cd src/swelltree/report/web && npm ci --no-audit --no-fund && npm run build

lint: $(VENV)/dev.stamp  ## style, types and layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/basedpyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports

format: $(VENV)/dev.stamp  ## rewrite the layout of the code
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

clean:  ## remove environments and everything built
	rm -rf $(VENV) $(BENCH) $(NEWEST) $(COMPANIONS) build dist out docs/_build .pytest_cache .ruff_cache .import_linter_cache

# --- environments: a stamp is renewed when the project or a pinned version changes -------------

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "swelltree needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/runtime.stamp: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python $(PIP) hatchling editables
	$(BIN)/python $(PIP) $(EDITABLE) '.[campaign]'
	@touch $@

$(VENV)/dev.stamp: $(VENV)/runtime.stamp
	$(BIN)/python $(PIP) $(EDITABLE) '.[dev,bem,campaign,live]'
	@touch $@

# The peers have an environment of their own: their pins need not agree with ours.
$(BENCH)/peers.stamp: benchmarks/requirements-peers.txt
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip --disable-pip-version-check install --quiet -r $<
	@touch $@
