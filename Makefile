# Thin: each target is a script in scripts/. `make help` lists them.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

installed := .venv/.installed
installed_dev := .venv/.installed-dev

.PHONY: help setup demo test test-quick test-all bench dist deb lint clean FORCE

help: ## This list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 19

setup: $(installed) ## Install what is missing; leaves .venv/bin/wirespeed

demo: $(installed) .venv/.dependencies-lab ## The whole job, without a card; leaves build/demo
	scripts/demo.sh

test: $(installed_dev) ## Lint, then every test that is not rare
	scripts/test.sh

test-quick: $(installed_dev) ## Lint, then what needs no virtual host and no DPDK
	scripts/test.sh quick

test-all: $(installed_dev) ## Lint, then every test, soaks and rare faults too
	scripts/test.sh all

bench: $(installed) ## Measure how fast the tester is beside its peers; leaves docs/benchmarks.md
	-scripts/fetch-ovs-dpdk.sh
	PYTHONPATH=tests/runs:tests/host .venv/bin/python tools/bench.py

dist: $(installed) ## Write the wheel, the tester's sources, the collector, SBOM and checksums
	scripts/dist.sh

deb: $(installed) ## Build Debian packages of wirespeed and of its tester, into build/deb
	scripts/deb.sh

lint: $(installed_dev) ## Only the linters
	scripts/lint.sh

clean: ## Remove everything that make made, the virtual environment too
	rm -rf build .venv .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache

# What the package is built of. The list changes when a file is added or removed.
build/sources.txt: FORCE
	@scripts/list-sources.sh $@

.venv/.dependencies: scripts/python-packages.lock scripts/install-system.sh \
		scripts/install-python.sh
	scripts/install-system.sh
	scripts/install-python.sh
	@touch $@

.venv/.dependencies-lab: .venv/.dependencies scripts/packages-lab.txt
	scripts/install-system.sh lab
	@touch $@

.venv/.dependencies-dev: .venv/.dependencies .venv/.dependencies-lab scripts/fetch-ovs-dpdk.sh \
		scripts/fetch-vcsim.sh scripts/python-packages-dev.lock
	scripts/install-system.sh test
	scripts/fetch-ovs-dpdk.sh
	scripts/fetch-vcsim.sh
	scripts/install-python.sh dev
	@touch $@

$(installed): .venv/.dependencies build/sources.txt $(shell cat build/sources.txt 2>/dev/null)
	scripts/install-project.sh
	@touch $@

$(installed_dev): $(installed) .venv/.dependencies-dev
	@touch $@

# A source that is in the old list and was removed since.
$(shell cat build/sources.txt 2>/dev/null): ;
