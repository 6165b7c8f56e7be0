# Two commands matter: `make book` and `make test`. Everything lives in .venv and _build.

PYTHON ?= python3
BIN := .venv/bin
# Progress bars in a terminal, silence in a log.
QUIET := $(shell test -t 2 || echo --quiet)
PIP := $(BIN)/python -m pip --disable-pip-version-check install $(QUIET)

.DEFAULT_GOAL := help
.PHONY: help book test lint lab bench clean

help: ## list these targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

.venv/.installed: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "capsedu needs Python 3.11 or newer, and $(PYTHON) is $$($(PYTHON) -V 2>&1): name another one with make PYTHON=python3.12" >&2; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing the pinned packages into .venv (minutes the first time) ..."
	@$(PIP) -r requirements.lock
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

# --all reads every page each time, so that a warning comes back until it is mended.
book: .venv/.installed ## build the book: runs every notebook (laptop profile), then prints where it is
	$(BIN)/jupyter-book build . --all -W -n --keep-going
	@touch _build/.built # the tests need not build it again
	@echo "The book is ready: $(CURDIR)/_build/html/index.html"

test: lint .venv/.installed ## all tests: style, types, package, notebooks, book, browser
	$(BIN)/python -m pytest -n 2 --dist loadfile tests

lint: .venv/.installed ## style and types only
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

lab: .venv/.installed ## open the notebooks in JupyterLab
	$(BIN)/jupyter lab notebooks

bench: .venv/.installed ## run the benchmarks and write their results
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks matrix

clean: ## remove the built book and the caches, keep .venv
	rm -rf _build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -not -path './.venv/*' -prune -exec rm -rf {} +
