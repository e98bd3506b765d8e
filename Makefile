PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
unexport PYTHONDONTWRITEBYTECODE # every worker and every process of a test would compile the code again

.PHONY: demo test test-browser test-portable test-slow fuzz counted lint types docs bench growth reproduced lock install-locked \
	licences audit clean

demo: $(READY)
	$(BIN)/attnx evaluate --task rotten-tomatoes --model bilstm-add --limit train=4000,dev=500,test=400

# Lint and types run beside the tests, and print what they found after them.
test: $(READY)
	@mkdir -p build; $(MAKE) --no-print-directory lint types > build/lint-and-types.txt 2>&1 & checks=$$!; \
	trap "kill $$checks" INT TERM; \
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist worksteal -m "not slow"; tests=$$?; \
	wait $$checks; checked=$$?; \
	cat build/lint-and-types.txt; \
	exit $$((tests || checked))

# Pages in a real browser; `make test` runs them too where one is installed.
test-browser: $(READY)
	command -v chromium || (apt-get update --quiet && apt-get install --yes --quiet chromium)
	OMP_NUM_THREADS=1 $(BIN)/pytest tests/views/test_in_a_browser.py

# What rests on floating point, as older and other x86 processors compute it, and with two threads.
PORTABLE := tests/formulas tests/plugins --ignore=tests/plugins/texts tests/results tests/testing tests/truth tests/wrapping $(addprefix tests/run/test_,\
	devices.py evaluation.py measuring.py precision.py score_keeper.py splits.py training.py \
	training_goes_on.py)
PROCESSORS := ATEN_CPU_CAPABILITY=default,ONEDNN_MAX_CPU_ISA=SSE41 ATEN_CPU_CAPABILITY=avx2,ONEDNN_MAX_CPU_ISA=AVX2 \
	MKL_CBWR=COMPATIBLE
test-portable: $(READY)
	set -e; for settings in $(PROCESSORS); do \
		echo "== $$settings"; \
		env OMP_NUM_THREADS=1 $$(echo $$settings | tr , ' ') $(BIN)/pytest -q -n 2 -m "not slow" $(PORTABLE); \
	done
	OMP_NUM_THREADS=2 $(BIN)/pytest -q -m "not slow" $(PORTABLE)
	$(BIN)/pytest -q -m slow tests/run/test_processors.py

test-slow: $(READY)
	$(BIN)/pytest -m slow

# Requests, files, what was kept, plugins and model folders made at random; a quick part is in `make test`.
# What fails is kept in .fuzz and tried first the next time; the numbers go to build/fuzz.xml.
MINUTES ?= 5
fuzz: $(READY)
	MINUTES=$(MINUTES) OMP_NUM_THREADS=1 $(BIN)/pytest -q --junitxml=build/fuzz.xml tests/fuzz

# The counts of docs/reliability.md: from its tests, and from build/fuzz.xml after `make fuzz MINUTES=10`.
counted: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python docs/data/reliability.py tests

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(READY)
	$(BIN)/mypy
	$(BIN)/mypy --config-file tests/mypy.ini

# The site, from docs/ and from the code, in build/site: a broken link or reference is an error.
docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo "build/site; to look at it with its search: $(BIN)/python -m http.server --directory build/site"

$(VENV)/.docs: $(READY)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[docs]"
	touch $@

bench: $(READY)
	$(BIN)/python -m benchmarks

# Time and memory against the number and length of texts, labels and runs; takes minutes.
growth: $(READY)
	$(BIN)/python -m benchmarks.growth

# docs/reproduced.md from the stored results of the papers' tables, without running any of them.
reproduced: $(READY)
	$(BIN)/python -m reproduced

# Every package of an installation with the hash of its file; installed, only these files are taken.
lock: $(READY)
	$(BIN)/python -m supply.lock

install-locked:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $(READY)

licences: $(READY)
	$(BIN)/python -m supply.licences

# Versions, files against the lists of their packages, and whether all fit; known weaknesses with pip-audit.
audit: $(READY)
	$(BIN)/python -m pip check
	$(BIN)/python -m supply.audit

clean:
	rm -rf $(VENV) build dist

# Everything is installed from the pins in constraints.txt. Compiling all of it would take longer than installing
# it; what is imported is compiled then.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt --editable ".[dev]"
	touch $(READY)
