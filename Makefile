# The two commands of the README are `make demo` and `make test`; both create .venv and install what they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# This torch is the CPU build that the project is tested with; a newer one may bring gigabytes of GPU packages.
TORCH := torch==2.13.0
# What is imported is compiled then; compiling all that is installed takes as long again as the installation.
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check --no-compile
SOURCES := pyproject.toml README.md LICENSE $(shell find src -type f -not -path '*/__pycache__/*')
export HF_HUB_OFFLINE = 1
export TOKENIZERS_PARALLELISM = false
export OMP_NUM_THREADS ?= 1
export MKL_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
# compiled tests are kept, whatever the shell says: compiling them takes half of the time of their collection
export PYTHONDONTWRITEBYTECODE =
# one more than there are processors: tests wait for servers, browsers and disks (nproc counts threads of OpenMP if told)
WORKERS ?= $(shell expr $$(env -u OMP_NUM_THREADS nproc 2>/dev/null || echo 2) + 1)

.PHONY: help demo test soak golden golden-sums coverage lint check docs docs-tables pictures lock sbom release clean dev

help:
	@echo "make demo    first result: embedded encoder, embedded items, a table and a report"
	@echo "make test    all tests, on the installed wheel"
	@echo "make soak    the long tests: what breaks once in a hundred times"
	@echo "make golden  compare what the studies and exports write with the recorded sums"
	@echo "make docs    build the documentation as a site: build/docs/index.html"
	@echo "make pictures  make the pictures of README and docs again (needs Chromium)"
	@echo "make coverage  write docs/reference/coverage.md: how often intervals hold the truth in simulated studies"
	@echo "make lint    lint, types, import contracts"
	@echo "make check   the same and the house tests"
	@echo "make lock    requirements.lock: versions and hashes of what a server needs; requirements-build.lock: of its build"
	@echo "make sbom    what a server is made of: dist/sbom.cdx.json"
	@echo "make release VERSION=0.2.0    rehearse a release in a clone, without the tests; with DRY= make it"
	@echo "make dev     editable install with everything for working on Lexiscope"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) $(TORCH)

# What is tested is the wheel that a user would install, not the source tree.
$(VENV)/wheel.stamp: $(SOURCES) | $(BIN)/python
	rm -rf dist
	$(BIN)/pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	$(INSTALL) "$$(ls dist/*.whl)[demo]"
	$(INSTALL) --no-deps --force-reinstall dist/*.whl
	touch $@

$(VENV)/test.stamp: $(VENV)/wheel.stamp
	$(INSTALL) "$$(ls dist/*.whl)[test,check]"
	touch $@

demo: $(VENV)/wheel.stamp
	$(BIN)/lexiscope demo

test: $(VENV)/test.stamp
	$(BIN)/python -m pytest tests --pyargs lexiscope -n $(WORKERS) --dist loadfile --no-loadscope-reorder

# Tier B of the reliability figures: 200 kills, 50 simulated power cuts, ten minutes of answers (LEXISCOPE_SOAK_HOURS);
# about an hour.
soak: $(VENV)/test.stamp
	$(BIN)/python -m pytest tests -m soak -n $(WORKERS) -rA

# The proof that a change of structure lost nothing: ten minutes. BASE=COMMIT compares with what that commit writes on
# this machine. A commit that changes bytes on purpose runs golden-sums, and says in its message what changed and why.
golden: $(VENV)/test.stamp
	PYTHONPATH=src $(BIN)/python tests/golden/golden.py compare tests/golden/sums.json $(if $(BASE),--base $(BASE))

golden-sums: $(VENV)/test.stamp
	PYTHONPATH=src $(BIN)/python tests/golden/golden.py write tests/golden/sums.json

lint: $(VENV)/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYTHONPATH=src $(BIN)/lint-imports

check: lint
	$(BIN)/python -m pytest tests/house -q

# A warning is an error: a dead link, a page outside the contents, an unreadable docstring.
docs: $(VENV)/test.stamp
	$(BIN)/sphinx-build -W --keep-going -q -b html docs build/docs
	@echo "Saved build/docs/index.html"

docs-tables:
	$(BIN)/python docs/make_tables.py
	$(BIN)/python docs/make_drawing.py
	$(BIN)/python docs/make_counts.py

pictures: $(VENV)/test.stamp
	$(BIN)/python docs/make_screens.py
	$(BIN)/python docs/make_gallery.py
	$(BIN)/python docs/make_pictures.py

# How often intervals hold the truth: ten minutes (STUDIES=1000 simulated studies a row).
STUDIES ?= 1000
coverage: $(VENV)/test.stamp
	PYTHONPATH=src $(BIN)/python -m tests.analysis.coverage $(STUDIES) > $(VENV)/coverage.md
	mv $(VENV)/coverage.md docs/reference/coverage.md

# Versions and hashes of what a server needs, and of what builds its package, for every system and Python; versions that
# still fit stay. UPGRADE=--upgrade takes the newest.
LOCK = $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-annotate --quiet \
	--custom-compile-command "make lock" $(UPGRADE)
lock: $(VENV)/release.stamp
	$(LOCK) pyproject.toml --extra postgres --output-file requirements.lock
	$(BIN)/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['build-system']['requires'], sep='\n')" \
		| $(LOCK) - --output-file requirements-build.lock

# The bill of materials describes what the lock file installs, in an environment of its own, which has no pip and none of
# the packages that come with it.
sbom: $(VENV)/release.stamp
	$(PYTHON) -m venv --clear --without-pip $(VENV)/server
	$(BIN)/pip --python $(VENV)/server install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	mkdir -p dist
	$(BIN)/cyclonedx-py environment $(VENV)/server/bin/python --pyproject pyproject.toml --mc-type application \
		--spec-version 1.6 --output-reproducible --output-file dist/sbom.cdx.json

$(VENV)/release.stamp: pyproject.toml | $(BIN)/python
	$(INSTALL) ".[release]"
	touch $@

# VERSION=0.2.0: version, changelog, files, bill of materials, checksums, commit and tag, without the tests and in a clone;
# DRY= does it here, after the tests (.ci/run).
DRY ?= --dry-run
release: $(VENV)/release.stamp
	$(BIN)/python .ci/release.py $(VERSION) $(DRY)

dev: | $(BIN)/python
	$(BIN)/pip install --disable-pip-version-check -e ".[test,check]"

clean:
	rm -rf $(VENV) dist build lexiscope-demo
