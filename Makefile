# Everything runs in .venv, made on demand; a stamp file per installation step keeps the second call quick.
PYTHON ?= python3
VENV   ?= .venv
SETS   ?= digits,wine
THREADS ?= 2
JOBS    ?= 1

bin     := $(VENV)/bin
pip     := $(bin)/python -m pip install --quiet --disable-pip-version-check
# Folders are among the sources because an editable installation has to be told of new modules.
kernels := $(wildcard src/simplexboost/kernels/*.?pp src/simplexboost/kernels/*/*.?pp src/simplexboost/kernels/*/*.inl)
sources := pyproject.toml CMakeLists.txt $(kernels) \
           $(shell find src/simplexboost -type d -not -name __pycache__)

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-slow test-matrix sanitize soak bench race ranks papers house docs wheel lint format check clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.dev ## everything a developer needs, in .venv

demo: $(VENV)/.package ## train on the digits data, beside scikit-learn's gradient boosting
	@$(bin)/python examples/demo.py

test: $(VENV)/.test $(VENV)/.browser ## run the tests, without the slow ones
	@$(bin)/python -m pytest -q -m "not slow" -n auto --dist loadfile

test-slow: $(VENV)/.test $(VENV)/.browser ## run the slow tests
	@$(bin)/python -m pytest -q -m slow

test-matrix: ## run most tests with the oldest and with the newest Python and packages, in build/matrix
	@$(PYTHON) tests/matrix.py

# What is watched: by TSan the thread pool, in a program of its own; by ASan and UBSan the tests of engine, files and
# flagship, all checks of arguments, and random cases of the two promises about what compiled code and files are given
# (docs/promises.md says how many). Python is not built with ASan, whose library is therefore loaded before it, also in
# processes that Python starts; leaks are not looked for, because Python frees little when it ends. What a sanitizer says
# before it ends the process goes to the standard error, which pytest must leave alone (--capture=sys).
watched := $(wildcard tests/test_engine*.py) $(addprefix tests/test_,binning.py symmetric.py sparse.py categories.py \
           kernel_arguments.py files.py file_values.py file_versions.py savable.py flagship.py)
core    := src/simplexboost/kernels
watch    = LD_PRELOAD="$(abspath build/sanitize/bad_alloc.so) $$(g++ -print-file-name=libasan.so) \
           $$(g++ -print-file-name=libstdc++.so)" UBSAN_OPTIONS=print_stacktrace=1 \
           ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:verify_asan_link_order=0 build/sanitize/bin/python

sanitize: build/sanitize/.built ## run the kernels under ASan and UBSan, and the thread pool under TSan
	@g++ -std=c++20 -O1 -g -fsanitize=thread -Wno-tsan -pthread -I$(core) tests/pool.cpp $(core)/core/pool.cpp \
	    -o build/sanitize/pool
	@TSAN_OPTIONS=halt_on_error=1 build/sanitize/pool
	@g++ -std=c++20 -O1 -g -fPIC -shared tests/bad_alloc.cpp -o build/sanitize/bad_alloc.so
	@$(watch) -m pytest -q -p no:cacheprovider --capture=sys -n $(THREADS) --dist loadfile -m "not slow" $(watched)
	@$(watch) -m promises inconsistent_calls_raise --cases 200 --jobs $(THREADS)
	@$(watch) -m promises changed_files_are_refused_or_work --cases 100 --jobs $(THREADS)

soak: $(VENV)/.test $(VENV)/.browser ## try every promise very often, for up to an hour, and write docs/reliability.md
	@$(bin)/python -m promises --jobs $(THREADS) --out docs/reliability.md

bench: $(VENV)/.bench ## time the kernels beside their floors
	@$(bin)/python -m benchmarks.kernels

race: $(VENV)/.bench ## race other libraries: make race SETS=letter,aloi27 (SIMPLEXBOOST_DATA names the folder)
	@mkdir -p build
	@$(bin)/python -m benchmarks.race --sets $(SETS) --threads $(THREADS) --jobs $(JOBS) --json build/race.json --resume
	@$(bin)/python -m benchmarks.report build/race*.json

ranks: $(VENV)/.bench ## rank the defaults of five libraries on small sets; the page shows them beside the race
	@mkdir -p build
	@$(bin)/python -m benchmarks.ranks --threads $(THREADS) --jobs $(JOBS) --json build/race-ranks.json --resume
	@$(bin)/python -m benchmarks.report build/race*.json

papers: $(VENV)/.bench ## the papers' tables and figures, quick and small, in build/papers (SIMPLEXBOOST_DATA as above)
	@$(bin)/python -m experiments run all --quick --results build/papers/cells
	@$(bin)/python -m experiments report --quick --results build/papers/cells --out build/papers

house: $(VENV)/.test ## the size and the shape of the package as a table, beside the goals
	@$(bin)/python -m tools.house

docs: $(VENV)/.docs ## the documentation as a site in build/docs; warnings and dead links are errors
	@$(bin)/python -m sphinx -b html -W --keep-going -q -d build/doctrees docs build/docs
	@$(bin)/python docs/check_links.py build/docs

wheel: $(VENV)/.wheel ## a wheel for this platform in dist, tried in a fresh environment without a compiler
	@rm -rf build/wheel && mkdir -p build/wheel dist
	@$(bin)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir build/wheel .
	@PATH="$(abspath $(bin)):$$PATH" $(bin)/auditwheel repair --wheel-dir build/wheel/repaired build/wheel/*.whl
	@$(PYTHON) -m venv build/wheel/venv
	@cd build/wheel && PATH="$(abspath build/wheel/venv/bin)" python -m pip install --quiet --disable-pip-version-check \
	    --only-binary :all: repaired/*.whl
	@cd build/wheel && for isa in baseline avx512; do \
	    PATH="$(abspath build/wheel/venv/bin)" SIMPLEXBOOST_ISA=$$isa python "$(abspath tests/smoke.py)" || exit 1; done
	@mv build/wheel/repaired/*.whl dist/ && ls dist/*.whl

lint: $(VENV)/.dev ## ruff, mypy, clang-format and the import contract
	@$(bin)/ruff check .
	@$(bin)/ruff format --check --quiet . || { $(bin)/ruff format --check .; exit 1; }
	@$(bin)/mypy
	@$(bin)/clang-format --dry-run --Werror $(kernels) tests/pool.cpp tests/bad_alloc.cpp
	@$(bin)/lint-imports --no-logo

format: $(VENV)/.dev ## let ruff and clang-format format and fix what they can
	@$(bin)/ruff check --fix .
	@$(bin)/ruff format .
	@$(bin)/clang-format -i $(kernels) tests/pool.cpp tests/bad_alloc.cpp

check: lint test ## lint and test

clean: ## remove .venv and everything built
	@rm -rf $(VENV) build dist .pytest_cache .hypothesis .ruff_cache .mypy_cache .import_linter_cache
	@rm -rf docs/gallery_pages docs/reference/generated docs/sg_execution_times.rst
	@find src tests tools examples benchmarks experiments runner promises -name __pycache__ -type d -prune -exec rm -rf {} +

# One virtual environment for all: Python files are used where they lie (an editable installation), and the compiled
# part is built again when its sources or pyproject.toml change. Extras come from the installed package's own metadata.
$(VENV)/.python:
	@echo "creating $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.package: $(VENV)/.python $(sources)
	@echo "building and installing simplexboost"
	@$(pip) --editable .
	@touch $@

$(VENV)/.test $(VENV)/.dev $(VENV)/.bench $(VENV)/.docs $(VENV)/.wheel: $(VENV)/.%: $(VENV)/.package
	@echo "installing what '$*' needs"
	@$(pip) "simplexboost[$*]"
	@touch $@

# Kernels with sanitizers, in an environment of their own that borrows all other packages from $(VENV). The editable
# installation of $(VENV) is not borrowed: it hangs on a .pth file, and only those of the environment itself are read.
build/sanitize/.built: $(VENV)/.test
	@echo "building the kernels with sanitizers"
	@rm -rf build/sanitize && $(bin)/python -m venv --without-pip build/sanitize
	@$(bin)/python -m pip --python build/sanitize/bin/python install --quiet --disable-pip-version-check --no-deps \
	    --config-settings=build-dir=build/sanitize/cmake --config-settings=cmake.build-type=RelWithDebInfo \
	    --config-settings=cmake.define.SIMPLEXBOOST_SANITIZE=address,undefined --editable .
	@cd build/sanitize/lib/python*/site-packages && echo $(abspath $(VENV))/lib/python*/site-packages > borrowed.pth
	@touch $@

# Tests of what runs in a browser need one. Debian's is installed where that is allowed; elsewhere pytest says which tests
# it skips, and why.
$(VENV)/.browser: $(VENV)/.python
	@{ command -v chromium && command -v chromedriver; } >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	  echo "installing chromium, in which some tests run" && apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium chromium-driver >/dev/null; } || \
	  echo "there is no chromium: tests in a browser will be skipped"
	@touch $@
