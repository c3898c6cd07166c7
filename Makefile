# SPDX-License-Identifier: MIT
# Shortcuts only: the work is done by CMake and by scripts/.
.PHONY: help build demo test test-full bench lint format install clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | awk -F '\t' '{printf "%-16s %s\n", $$1, $$2}'

build: ## the program, build/headspec
	@scripts/build.sh

demo: ## build, train experiments/two_phases.yaml and draw it
	@scripts/demo.sh

test: ## build and run the tests (some minutes)
	@scripts/test.sh

test-full: ## more seeds and sizes, more compilers and sanitizers, lint (an hour or so)
	@scripts/test.sh full

bench: ## speed beside NumPy and PyTorch
	@bench/run.sh

lint: ## clang-format, clang-tidy, names, floors and file lengths
	@scripts/lint.sh

format: ## lay out all C files as .clang-format says
	@scripts/format.sh

install: build ## install under PREFIX (default /usr/local)
	@cmake --install build --prefix "$${PREFIX:-/usr/local}"

clean: ## remove everything that was built
	@rm -rf build build-* demo
