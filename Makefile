# Every command of the book; `make` alone lists them.

PYTHON    ?= python3
DEVICE    ?= cpu
VENV      ?= .venv
# The frameworks of book.toml; the first one's edition is the one that readers get unasked.
KNOWN     := $(shell $(or $(wildcard $(VENV)/bin/python),$(PYTHON)) -m bookbinder known)
FIRST     := $(firstword $(KNOWN))
FRAMEWORK ?= $(FIRST)
# Not ?=: a shell may have a LANGUAGE of its own. On the command line, LANGUAGE=zh wins.
LANGUAGE  := en
LANGUAGES := en
COPIES    ?= my-notebooks$(if $(filter-out $(FIRST),$(FRAMEWORK)),-$(FRAMEWORK))$(if $(filter-out en,$(LANGUAGE)),-$(LANGUAGE))
$(if $(KNOWN),,$(error book.toml cannot be read: the line above says why))
$(if $(filter $(FRAMEWORK),$(KNOWN)),,$(error no framework '$(FRAMEWORK)' in book.toml; known: $(KNOWN)))
READY    = $(VENV)/ready-$(FRAMEWORK)
EDITION  = --framework $(FRAMEWORK) --language $(LANGUAGE)
LEFT_OFF = .left-off  # where JupyterLab keeps which pages were open
RUN      = "$(CURDIR)/$(VENV)/bin/python" -m
PYTEST   = $(RUN) pytest
NBVAL    = --nbval-current-env --nbval-sanitize-with tests/sanitize.cfg
# Two processes with one thread each: a notebook's cells, and a file's tests, stay in one of them.
AT_ONCE  = --numprocesses 2 --dist loadfile --no-loadscope-reorder
# These tests start JupyterLab: nothing runs beside them.
ALONE    = site_tests/test_lab.py
# What imports a framework is tested with it; all else is tested once, with the first one.
SITE_TESTS = tests/test_site.py tests/test_translated_site.py
TESTED = $(if $(filter $(FIRST),$(FRAMEWORK)),tests $(addprefix --ignore ,$(SITE_TESTS)),\
	$(addprefix tests/,$(FRAMEWORK) contract test_exercises.py test_book.py))
# With other versions, outputs differ a little and packages warn of each other: errors count.
ERRORS_ONLY = notebooks/$(FRAMEWORK) $(TESTED) --nbval-lax $(NBVAL) $(AT_ONCE) -W default
export D2L_DEVICE = $(DEVICE)
export D2L_FRAMEWORK = $(FRAMEWORK)

help:         ## list the commands
	@sed -n "s/^\([a-z-]*\):[^#]*## /  \1\t/p" Makefile
	@echo "lab, worksheets and pdf take LANGUAGE=..., a language of book.toml"
	@echo "Most take FRAMEWORK=..., one of: $(KNOWN)"

lab: setup    ## open the book in JupyterLab, in copies that are yours to change
	@$(RUN) bookbinder copies $(EDITION) "$(COPIES)"
	@echo "Your copies are in $(COPIES)/"
	@eval "$$($(RUN) bookbinder environment $(EDITION))" && \
	cd "$(COPIES)" && first=$$([ -d $(LEFT_OFF) ] || echo --LabApp.default_url=/lab/tree/00_start_here.ipynb) && \
	JUPYTER_CONFIG_PATH="$(CURDIR)/bookbinder/lab:$$JUPYTER_CONFIG_PATH" \
	exec $(RUN) jupyterlab $$first --LabApp.workspaces_dir=$(LEFT_OFF) \
	--LabApp.extra_labextensions_path="$(CURDIR)/_build/lab" $(ARGS)

fresh: setup  ## bring back a chapter as the book has it, CHAPTER=4; your copy is kept beside it
	@$(RUN) bookbinder fresh $(EDITION) "$(COPIES)" $(CHAPTER)

check: setup  ## check all that is quick: the linter, stale files, the unit tests
	$(RUN) ruff format --check .
	$(RUN) ruff check .
	OMP_NUM_THREADS=1 $(PYTEST) $(TESTED) $(AT_ONCE)

test: check   ## check, then run every notebook and compare its outputs; with DEVICE=cuda, on the GPU
	OMP_NUM_THREADS=1 $(PYTEST) tests/conftest.py notebooks/$(FRAMEWORK) --nbval $(NBVAL) $(AT_ONCE)

test-cpus: setup  ## run the notebooks as other CPUs compute them; CPUS="plainest", one of CPU_SETTINGS in d2l_attention/frameworks/
	@PYTEST_ADDOPTS="$(NBVAL) $(AT_ONCE)" $(RUN) tools.cpus $(CPUS)

notebooks: setup  ## bind and execute the book again: notebooks/ and d2l_attention/, of the FRAMEWORK; CHAPTERS="4 5", these only
	@$(RUN) bookbinder bind $(EDITION) $(CHAPTERS)

worksheets: setup ## bind the students' edition, without solutions; ARGS=--no-outputs or, for teachers, --solutions-only
	@$(RUN) bookbinder worksheets $(EDITION) $(ARGS)

grade: setup   ## grade worksheets in a sandbox, SUBMISSIONS=folder; ARGS="--exercises exam.py", your own exercises
	@$(RUN) bookbinder grade $(EDITION) $(CHAPTER:%=--chapter %) $(ARGS) "$(SUBMISSIONS)"

messages: setup  ## bring the catalogs of LANGUAGE=zh to the text as it is, and list what is missing (default: all)
	@$(RUN) bookbinder messages $(filter-out en,$(LANGUAGE))

site: $(VENV)/site-ready  ## build the book as a site in _build/site/; LANGUAGES="en zh", translations, too
	@$(RUN) bookbinder site --languages $(LANGUAGES)

site-open: $(VENV)/site-ready  ## show the site in a browser
	@$(RUN) bookbinder site-open

test-site: site  ## build the site and look at every page of it in Chromium
	$(PYTEST) $(SITE_TESTS)
	$(PYTEST) $(ALONE)
	$(PYTEST) site_tests $(ALONE:%=--ignore %) --numprocesses 2 --dist loadgroup

pdf: $(VENV)/site-ready  ## print the whole book as one PDF in _build/, with Chromium; ARGS=--no-exercises, a shorter one
	@$(RUN) bookbinder site --languages en $(filter-out en,$(LANGUAGE))
	@$(RUN) bookbinder pdf $(EDITION) $(ARGS)

slides: $(VENV)/site-ready  ## write slides as one file, CHAPTER=4 or SESSION=5, or both, from the site
	@$(RUN) bookbinder slides $(EDITION) $(CHAPTER) $(if $(SESSION),--session $(SESSION))

setup: $(READY)  ## set up .venv with the pinned packages

$(VENV)/ready-%: pyproject.toml constraints.txt
	@echo "Setting up $(VENV) for $*, once: some minutes, up to 3 GB to download; README.md says when 0.2 GB are enough"
	@$(PYTHON) -m venv $(VENV)
	@$(RUN) pip install --quiet --constraint constraints.txt --editable ".[test,$*]"
	@$(RUN) pip install --quiet --constraint constraints.txt --no-deps d2l  # what the book is compared with
	@touch $@

benchmark: setup  ## measure speed and memory beside other implementations
	$(RUN) benchmarks

$(VENV)/site-ready: $(VENV)/ready-$(FIRST)
	$(RUN) pip install --quiet --constraint constraints.txt --editable ".[test,site]"
	@touch $(VENV)/site-ready

test-oldest:  ## run notebooks and unit tests for errors only, with the oldest packages allowed
	$(PYTHON) -m venv --clear .venv-oldest
	$(PYTHON) -m tools.oldest > .venv-oldest/versions.txt
	.venv-oldest/bin/python -m pip install --quiet --constraint .venv-oldest/versions.txt --editable ".[test,$(FRAMEWORK)]"
	.venv-oldest/bin/python -m pip install --quiet --no-deps d2l==1.0.3
	OMP_NUM_THREADS=1 .venv-oldest/bin/python -m pytest $(ERRORS_ONLY)

test-newest:  ## run notebooks and unit tests for errors only, with the newest packages (PYTHON=python3.14)
	$(PYTHON) -m venv --clear .venv-newest
	.venv-newest/bin/python -m pip install --quiet --editable ".[test,$(FRAMEWORK)]"
	.venv-newest/bin/python -m pip install --quiet --no-deps d2l==1.0.3
	OMP_NUM_THREADS=1 .venv-newest/bin/python -m pytest $(ERRORS_ONLY)

clean:        ## remove what make set up; your copies of the notebooks stay
	rm -rf .venv .venv-oldest .venv-newest _build

.SECONDARY:  # keep the marks of what is set up
.PHONY: help lab fresh check test test-cpus notebooks worksheets grade messages site site-open test-site pdf slides setup benchmark test-oldest test-newest clean
