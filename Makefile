# Needs Python 3.11 or later and the package registries; everything goes into .venv.
PYTHON ?= python3
BIN := .venv/bin
ROOMS := schemas models streams store checkers agents web assay lab
CODE := $(ROOMS) tests benchmarks deploy docs
EXTRAS := judges llm embedded chroma faiss pgvector postgresql parquet dev
# The examples' packages are not ours: they have an environment of their own.
APPLICATIONS := .venv/applications

.DEFAULT_GOAL := help
.PHONY: help demo test run-tests test-system test-models lint format docs bench reproduce-no-data lock clean

help: ## Show what there is to make
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-17s %s\n", $$1, $$2}'

demo: .venv/.demo ## Set up, then judge the sample records live
	@$(BIN)/assay demo

test: .venv/.ready ## Set up, lint, check types, run all tests (Apache Kafka included)
	@$(MAKE) --no-print-directory --jobs 2 lint run-tests

run-tests: .venv/.ready
	@$(BIN)/pytest -n auto --dist loadgroup --no-loadscope-reorder

test-system: .venv/.ready ## Install what the system tests need where missing (Debian), run them
	@tests/system/install-packages
	@test -x $(APPLICATIONS)/bin/python || $(BIN)/uv venv --quiet --python $(BIN)/python $(APPLICATIONS)
	@$(BIN)/uv pip install --quiet --python $(APPLICATIONS)/bin/python --no-deps --require-hashes \
	    -r tests/system/applications.lock
	@$(BIN)/pytest tests/system

test-models: .venv/.ready ## The judges by name and the default model file, with real weights (7 GB from the Hugging Face hub)
	@$(BIN)/pytest tests/weights --override-ini timeout=0

lint: .venv/.ready ## Lint, check the format and the types
	@$(BIN)/ruff check $(CODE)
	@$(BIN)/ruff format --check $(CODE)
	@$(BIN)/mypy

format: .venv/.ready ## Format the code
	@$(BIN)/ruff check --fix --unsafe-fixes $(CODE)
	@$(BIN)/ruff format $(CODE)

docs: .venv/.ready ## Write docs/configuration.md from the settings
	@$(BIN)/python docs/configuration.py > docs/configuration.md

bench: .venv/.ready ## Run the benchmarks; DATA=folder of the public data sets
	@$(BIN)/python -m benchmarks $(if $(DATA),--data $(DATA))

reproduce-no-data: .venv/.ready ## Tables 2 and 3 of the No-Data Algorithm; DATA=folder of the public data sets
	@$(BIN)/python -m benchmarks.labelling --only tables --data $(or $(DATA),../shared/data)

lock: ## Resolve both pyproject.toml anew into the locks
	@$(BIN)/uv pip compile pyproject.toml lab/pyproject.toml --no-emit-package assay $(EXTRAS:%=--extra %) \
	    --universal --python-version 3.11 --upgrade --generate-hashes --no-annotate --no-header --no-emit-index-url --quiet --output-file requirements.lock
	@$(BIN)/uv pip compile pyproject.toml --extra local --extra embedded --constraint requirements.lock --override deploy/local-overrides.txt \
	    --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --no-emit-index-url --quiet --output-file requirements.local.lock
	@$(BIN)/uv pip compile tests/system/requirements.in --no-deps --universal --python-version 3.11 --upgrade \
	    --generate-hashes --no-annotate --no-header --no-emit-index-url --quiet --output-file tests/system/requirements.lock
	@$(BIN)/uv pip compile tests/system/applications.in --universal --python-version 3.11 --upgrade \
	    --generate-hashes --no-annotate --no-header --no-emit-index-url --quiet --output-file tests/system/applications.lock

clean: ## Remove what was built and installed here
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis out

# uv installs the locked packages in seconds; where it has no way to the registry that pip was configured for,
# pip does the same in minutes. The demo needs a tenth of what the tests do.
.venv/.demo: requirements.local.lock .venv/.uv
	$(call installed,requirements.local.lock,--editable .)

.venv/.ready: requirements.lock lab/pyproject.toml .venv/.uv
	@echo "Installing the packages of the tests (the first time this downloads about 3 GB, most of it PyTorch)..."
	$(call installed,requirements.lock,--editable . --editable lab)

define installed
@$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --no-deps --require-hashes -r $(1) \
    || $(BIN)/python -m pip install --disable-pip-version-check --no-deps --require-hashes -r $(1)
@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps $(2) \
    || $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps $(2)
@touch $@
endef

.venv/.uv: pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit(f"assay needs Python 3.11 or later; $(PYTHON) is {v[0]}.{v[1]}. Name another one: make PYTHON=python3.12 ...")'
	@echo "Setting up .venv..."
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@grep -A 1000 '^uv==' requirements.lock | awk 'NR > 1 && /^[a-z]/ {exit} {print}' > .venv/uv.lock.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r .venv/uv.lock.txt
	@touch $@
