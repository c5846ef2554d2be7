# Every command of the book; `make` alone lists them.

PYTHON    ?= python3
DEVICE    ?= cpu
# The frameworks of book.toml; the first one's edition is the one that readers get unasked.
KNOWN     := $(shell sed -n 's/^\[frameworks\.\(.*\)\] *$$/\1/p' book.toml 2>/dev/null)
FIRST     := $(firstword $(KNOWN))
# Those with chapters of their own, each in an environment of its own.
ALONE     := $(shell sed -n 's/^\[alone\.\(.*\)\] *$$/\1/p' book.toml 2>/dev/null)
# What one command does for all frameworks it does for one that is named.
ONE       := $(FRAMEWORK:%=--framework %)
FRAMEWORK ?= $(FIRST)
APART     := $(filter $(ALONE),$(FRAMEWORK))
VENV      ?= .venv$(APART:%=-%)
# Not ?=: a shell may have a LANGUAGE of its own. On the command line, LANGUAGE=zh wins.
SPOKEN    := $(shell sed -n 's/^languages *= *\[ *"en"\(.*\)\].*/\1/p' book.toml 2>/dev/null | tr -d '",')
$(if $(and $(filter environment,$(origin LANGUAGE)),$(filter $(LANGUAGE),$(SPOKEN)),$(filter-out help setup check test,$(MAKECMDGOALS))),\
	$(info LANGUAGE=$(LANGUAGE) in front of make is not read, as systems set it, too: make $(MAKECMDGOALS) LANGUAGE=$(LANGUAGE)))
LANGUAGE  := en
COPIES    ?= my-notebooks$(if $(filter-out $(FIRST),$(FRAMEWORK)),-$(FRAMEWORK))$(if $(filter-out en,$(LANGUAGE)),-$(LANGUAGE))
$(if $(filter-out help,$(MAKECMDGOALS)),$(if $(and $(filter 1,$(words $(FRAMEWORK))),$(filter $(KNOWN) $(ALONE),$(FRAMEWORK))),,\
	$(error no framework '$(FRAMEWORK)' in book.toml; known: $(or $(KNOWN) $(ALONE),none))))
READY    = $(VENV)/ready-$(FRAMEWORK)
TOOLS    = $(VENV)/test-ready
SITE     = $(VENV)/site-ready
EDITION  = --framework $(FRAMEWORK) --language $(LANGUAGE)
RUN      = "$(VENV)/bin/python" -m
BIND     = $(RUN) bookbinder
INSTALL  = $(RUN) pip install --constraint $(if $(APART),$(VENV)/)constraints.txt
PYTEST   = OMP_NUM_THREADS=1 $(RUN) pytest
NBVAL    = --nbval-current-env --nbval-sanitize-with tests/sanitize.cfg
# Two processes with one thread each: a notebook's cells, and a file's tests, stay in one of them.
AT_ONCE  = --numprocesses 2 --dist loadfile --no-loadscope-reorder
# These tests start JupyterLab: nothing runs beside them.
LAB_TESTS = tests/site/test_lab.py
# What imports a framework is tested with it; all else is tested once, with the first one.
# The two files that take longest begin, each in a process; all others are shared out meanwhile.
SITE_TESTS = tests/test_site.py
TESTED = $(if $(filter $(FIRST),$(FRAMEWORK)),tests/test_grading.py tests/test_translation.py tests $(addprefix --ignore ,$(SITE_TESTS) tests/site),\
	$(addprefix tests/,$(FRAMEWORK) contract $(if $(APART),,test_exercises.py test_book.py)))
NOTEBOOKS = tests/conftest.py notebooks/$(FRAMEWORK)
SIZE = up to 2.7 GB to download and 5 GB of disk; without a GPU 0.2 GB and 1.3 GB are enough, and README.md says how
# Where there is no wheel, one line says so. The exact pins of its extra take the place of constraints.txt's.
ifdef APART
SIZE = 0.2 GB to download and 0.6 GB of disk
FITS = import platform, sys, tomllib; at = tomllib.load(open('book.toml', 'rb'))['alone']['$(APART)']['wheels']; \
	here = f'{platform.system()} {platform.machine()}'; python = '%d.%d' % sys.version_info[:2]; \
	(python in at['python'] and here in at['machines']) or sys.exit(f'$(APART) has wheels for Python ' \
	f'{\" and \".join(at[\"python\"])} on {\", \".join(at[\"machines\"])}; this is {python} on {here}: nothing is installed')
endif
# Whatever pip's own settings say, packages go to $(VENV).
export PIP_USER = 0
export D2L_DEVICE = $(DEVICE)
export D2L_FRAMEWORK = $(FRAMEWORK)

help:
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-11s %s\n", $$1, $$2 }' Makefile
	@echo "All take FRAMEWORK=..., one of: $(or $(KNOWN) $(ALONE),those in book.toml); most LANGUAGE=..., a language of book.toml"

lab: $(READY)  ## open the book in JupyterLab, in copies that are yours to change; ARGS="--no-browser --port 8890", options of JupyterLab
	@exec $(BIND) lab $(EDITION) "$(COPIES)" $(ARGS)

check: $(TOOLS)  ## check all that is quick: the linter, stale files, most unit tests
	$(RUN) ruff format --check .
	$(RUN) ruff check .
	$(PYTEST) $(TESTED) -m "not slow" $(AT_ONCE)

units: $(TOOLS)  # all of `make test` but the notebooks
	$(RUN) ruff format --check .
	$(RUN) ruff check .
	$(PYTEST) $(TESTED) $(AT_ONCE)

# The lower bounds of pyproject.toml as pins, of which a framework's own are later than the package's.
ifeq ($(VERSIONS),oldest)
BOUNDS = awk -F '"' '/^(dependencies|$(FRAMEWORK)|book|test) = /, /\]$$/ { for (i = 2; i < NF; i += 2) \
	if (split($$i, at, ">=") == 2) pins[at[1]] = at[2] } END { for (name in pins) print name "==" pins[name] }' pyproject.toml
endif

ifdef VERSIONS
test:  # in a set-up of its own; with other versions, outputs differ a little: errors count
	$(if $(filter oldest newest,$(VERSIONS)),,$(error which versions? oldest or newest, got '$(VERSIONS)'))
	$(PYTHON) -m venv --clear .venv-$(VERSIONS)
	$(BOUNDS) > .venv-$(VERSIONS)/versions.txt
	.venv-$(VERSIONS)/bin/python -m pip install --constraint .venv-$(VERSIONS)/versions.txt --editable ".[test,$(FRAMEWORK)]"
	.venv-$(VERSIONS)/bin/python -m pip install --no-deps d2l==1.0.3
	OMP_NUM_THREADS=1 .venv-$(VERSIONS)/bin/python -m pytest $(NOTEBOOKS) $(TESTED) --nbval-lax $(NBVAL) $(AT_ONCE) -W default
else ifdef CPUS
test: $(TOOLS)  # the notebooks alone
	@PYTEST_ADDOPTS="$(NBVAL) $(AT_ONCE)" $(RUN) tools.cpus $(filter-out all,$(CPUS))
else
test: units  ## run all tests, and every notebook; DEVICE=cuda, CPUS=plainest (or all), VERSIONS=oldest (or newest): elsewhere
	$(PYTEST) $(NOTEBOOKS) --nbval $(NBVAL) $(AT_ONCE)
endif

pins: $(READY)  # for constraints.txt, below its last comment: the newest that fit each other; a build for a GPU has its own
	@sed '/^# All/,$$d; /^#/d; /^d2l=/d' constraints.txt > $(VENV)/by-hand.txt
	@$(RUN) pip install --dry-run --ignore-installed --requirement $(VENV)/by-hand.txt ".[pytorch,jax,tensorflow,book,test,site]" | \
		sed -n 's/^Would install //p' | tr ' A-Z_' '\na-z-' | sed -E 's/-([^-]*)$$/==\1/; s/\+.*//' | \
		grep -vxFf $(VENV)/by-hand.txt | grep -vE '^(d2l-|cuda-|nvidia-|triton=)'

notebooks: $(TOOLS)  ## bind the book of all frameworks, and execute what has changed; CHAPTER="4 5", these only; LANGUAGE=zh, with its catalogs
	@$(BIND) bind $(CHAPTER) $(ONE) --languages $(LANGUAGE)

worksheets: $(READY)  ## bind the students' edition, without solutions; ARGS=--no-outputs
	@$(BIND) worksheets $(EDITION) $(ARGS)

grade: $(READY)  ## grade worksheets in a sandbox, SUBMISSIONS=folder; ARGS="--exercises exam.py", your own exercises
	@$(BIND) grade $(EDITION) $(CHAPTER:%=--chapter %) $(ARGS) "$(SUBMISSIONS)"

site: $(SITE)  ## build the book as a site in _build/site/; LANGUAGE="en zh", translations, too
	@$(BIND) site --languages $(LANGUAGE)

test-site: site  ## build the site and look at every page of it in Chromium
	$(PYTEST) $(SITE_TESTS) --numprocesses 2 --dist loadgroup
	$(PYTEST) $(LAB_TESTS)
	$(PYTEST) tests/site $(LAB_TESTS:%=--ignore %) --numprocesses 2 --dist loadgroup

pdf: $(SITE)  ## print the whole book as one PDF in _build/, with Chromium
	@$(BIND) site $(EDITION)
	@$(BIND) pdf $(EDITION)

slides: $(SITE)  ## write the slides of CHAPTER=4 as one file
	@$(BIND) slides $(EDITION) $(CHAPTER)

setup: $(READY)  ## set up .venv with the pinned packages of readers

$(VENV)/ready-%: pyproject.toml constraints.txt
	@echo "Setting up $(VENV) for $*, once, in some minutes: $(SIZE)"
	@$(PYTHON) -c "import sys; sys.version_info >= (3, 11) or sys.exit('Python 3.11 or newer is needed: make PYTHON=python3.11')"
	@$(if $(APART),$(PYTHON) -c "$(FITS)")
	@echo "1/3 an environment of Python in $(VENV): 20 MB"
	@$(PYTHON) -m venv $(VENV)
	@$(if $(APART),sed -n 's/^$* = //p' pyproject.toml | grep -o '[a-z]*==' | grep -v -f - constraints.txt > $(VENV)/constraints.txt)
	@echo "2/3 the packages of the book: most of the download"
	@$(INSTALL) --editable ".[book,$*]"
	@echo "3/3 d2l, what the book is compared with: 0.1 MB"
	@$(INSTALL) --no-deps d2l
	@touch $@

$(TOOLS): $(READY) pyproject.toml constraints.txt
	@echo "Adding the packages of the tests to $(VENV), once: 20 MB of disk"
	@$(INSTALL) --editable ".[test]"
	@touch $@

$(SITE): $(TOOLS)
	@echo "Adding the packages of the site and the slides to $(VENV), once, in some minutes: 0.5 GB of disk"
	@$(INSTALL) --editable ".[site]"
	@touch $@

.PHONY: help lab check test notebooks worksheets grade site test-site pdf slides setup
.PHONY: units pins
