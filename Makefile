# SPDX-License-Identifier: MIT
# A thin layer: each target is a few commands that may also be typed. Presets are in CMakePresets.json.
#
#   make setup     install what is missing (Debian packages, .venv); does nothing when all is there
#   make demo      films, visitors and a changing feed; make demo SCALE=1000000 on a generated million
#   make test      everything: C, Python, both compilers, sanitizers, layers, ABI
#   make bench     the tables of bench/
#   make planted   bugs planted on purpose, to see that the tests catch them; PLANTED=--all for all of them
#   make verify    the same tests at release length: hours, see VERIFY_SECONDS
#   make format    clang-format over all C; make lint only looks
#
# Shorter ways while working:
#   make release | dev | tsan | release-clang ...   configure and build one preset
#   make check-dev (and so on)                      and run its C tests
#   make python                                     build the extension into .venv (editable)

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

JOBS ?= $(shell nproc)
# How long one stress test may run, in seconds: in `make test`, and in `make verify`.
TEST_SECONDS ?= 10
VERIFY_SECONDS ?= 1200
# Rows of the demo: empty is the films in examples/.
SCALE ?=
# Which bugs to plant: empty is 25 quick ones.
PLANTED ?=

PRESETS := release release-clang dev dev-clang tsan tsan-clang abi
PY := .venv/bin/python

.PHONY: help setup demo test bench verify planted format lint checks abi-check python test-python test-python-asan fuzz clean \
        $(PRESETS) $(PRESETS:%=check-%)

help:
	@sed -n '/^#   make/s/^#   //p' Makefile

setup:
	@scripts/setup.sh

# ---- building

$(PRESETS):
	@cmake --preset $@ >build/$@.log 2>&1 || { cat build/$@.log >&2; exit 1; }
	@cmake --build --preset $@ --parallel $(JOBS)

# CMake would make the folder too late for its log.
$(PRESETS): | build
build:
	@mkdir -p build

$(PRESETS:%=check-%): check-%: %
	@EAGRE_TEST_SECONDS=$(TEST_SECONDS) ctest --preset $* --parallel $(JOBS) --timeout $$(($(TEST_SECONDS) * 6 + 300))

# Editable: Python files are live; the extension is built again (only what changed) each time this runs.
python:
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .

# ---- running

demo: setup python
	@$(PY) examples/films_demo.py $(if $(SCALE),--scale $(SCALE))

# SCALE: rows for bench_engine and bench_python (1,000,000 and 10,000 if not given); those of bench/core have sizes of their own.
bench: setup release python
	@for b in build/release/bench/bench_*; do \
	    [[ -f $$b && -x $$b ]] || continue; echo; echo "== $${b##*/}"; $$b $(SCALE); \
	done
	@for b in bench/bench_*.py; do \
	    [[ -f $$b ]] || continue; echo; echo "== $${b##*/}"; $(PY) $$b $(SCALE); \
	done

# ---- testing

test: setup
	@scripts/run_tests.sh $(TEST_SECONDS)

# The random parts of every suite read EAGRE_TEST_SECONDS and grow with it.
verify: setup
	@HYPOTHESIS_PROFILE=verify PLANTED=--all scripts/run_tests.sh $(VERIFY_SECONDS)

planted:
	@python3 tests/planted/planted.py --jobs $(JOBS) $(PLANTED)

# Each fuzzer that long; FUZZ="parser" for one of them.
fuzz:
	@scripts/fuzz.sh $(TEST_SECONDS) $(FUZZ)

checks:
	@$(PY) scripts/check_layers.py

abi-check: release
	@scripts/check_abi.sh build/release

test-python: python
	@EAGRE_REQUIRE_ENGINE=1 EAGRE_TEST_SECONDS=$(TEST_SECONDS) $(PY) -m pytest

test-python-asan:
	@EAGRE_REQUIRE_ENGINE=1 EAGRE_TEST_SECONDS=$(TEST_SECONDS) scripts/pytest_asan.sh -q

# ---- habits

C_FILES = $(shell git ls-files --cached --others --exclude-standard -- '*.c' '*.h' ':!*/_ffi.c')

format:
	@clang-format -i $(C_FILES)

lint:
	@clang-format --dry-run -Werror $(C_FILES)
	@$(PY) -m mypy

clean:
	@rm -rf build dist
