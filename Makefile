# The front door: `make help`. What is missing is installed first (tools/install.sh).
SHELL := /bin/bash
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
.PHONY: help install build demo demo-torch demo-down test test-unit test-frameworks test-matrix bench gate soak lint format fuzz ci release clean

PYTHON := python3 -B

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: ## install what the build and the tests need, as far as it is missing
	@tools/install.sh

build: install ## build everything (preset dev, into build/dev)
	@tools/build.sh dev all crossover_portable

# Where no cluster can be had the demo does without, and says why.
demo: install ## a Kubernetes of two nodes here, Crossover by helm install, two jobs: a table, a report, a trace; STAY=1 lets it stand
	@[ "$$(id -u)" != 0 ] || tools/install.sh --cluster || true
	@tools/build.sh release
	@$(PYTHON) -m tools.demo $(if $(STAY),--stay)

demo-torch: install ## the same with two jobs of unmodified PyTorch (0.6 GB, fetched once), in a cluster only (as root)
	@tools/install.sh --cluster && tools/install.sh --torch
	@tools/build.sh release
	@$(PYTHON) -m tools.demo --torch $(if $(STAY),--stay)

demo-down: ## end what a killed demo may have left behind
	@$(PYTHON) -m tools.demo --down

test: build ## every test that runs here, those on a real Kubernetes among them (as root)
	@[ "$$(id -u)" != 0 ] || { tools/install.sh --images && tools/install.sh --cluster; }
	@tools/install.sh --torch && tools/install.sh --workflows
	@tools/test.sh dev

# The patterns need no package of NVIDIA; what follows them needs all of them.
test-frameworks: build ## PyTorch in many patterns, JAX, NVIDIA's own libraries, without a GPU (6 GB of downloads); ONLY=pattern runs one
	@tools/install.sh --torch-frameworks && tools/install.sh --jax
	@$(PYTHON) -m unittest -v $(if $(ONLY),tests.frameworks.test_patterns.Patterns.test_$(ONLY),tests.frameworks.test_patterns)
ifndef ONLY
	@tools/install.sh --frameworks
	@$(PYTHON) -m unittest -v tests.frameworks.test_libraries tests.frameworks.test_torch tests.frameworks.test_programs \
		tests.frameworks.test_reductions
	@tools/install.sh --horovod
	@$(PYTHON) -m unittest -v tests.frameworks.test_horovod
	@$(MAKE) bench ONLY=framework_time
endif

test-matrix: build ## a build of each source for itself; the tests on Kubernetes 1.34 and 1.31, on containerd 1.6, and in a virtual machine; the suite for a real GPU; bills and signatures of a release (as root); ONLY=1.31 takes one
	@[ -n "$(ONLY)" ] || { cmake --preset dev -B build/apart -DCROSSOVER_BATCHES=OFF > /dev/null && cmake --build build/apart; }
	@tools/install.sh --cluster && tools/install.sh --matrix && tools/install.sh --images && tools/install.sh --torch
	@tools/install.sh --release
	@[ -n "$(ONLY)" ] || ctest --test-dir build/dev -C matrix -R '^(release|benchmarks\.gpu)\.' --no-tests=error --output-on-failure
	@$(PYTHON) -m tools.matrix $(if $(ONLY),--only $(ONLY))

test-unit: build ## the unit tests alone: no root, no namespaces
	@tools/test.sh unit

bench: install ## measure the figures, with their baselines and controls; ONLY=figure takes one
	@tools/build.sh bench all crossover_portable
	@$(PYTHON) -m benchmarks.run $(if $(ONLY),--only $(ONLY))

gate: build ## two minutes that see a loss of 5% in what turns gain, on a quiet machine: the one timed test; ONLY=eta|guard
	@$(PYTHON) -m benchmarks.gate --build build/dev $(if $(ONLY),--only $(ONLY))

soak: install ## hours of what the tests do in minutes; ONLY=explore|fuzz|fuzz_strangers|kills|churn|faults|gangs|leaders|gang_churn|mutants takes one part; goes on where it stopped
	@tools/build.sh bench all crossover_portable
	@$(PYTHON) -m tools.soak $(if $(ONLY),--part $(ONLY))

lint: install ## formatting, layers, words, shell, Python, headers, clang-tidy
	@$(PYTHON) tools/lint/run.py $(ONLY)

format: install ## format the C and C++ files in place
	@$(PYTHON) tools/lint/run.py --fix

fuzz: install ## every fuzzer for SECONDS=30; ONLY=name takes one
	@tools/fuzz.sh $(or $(SECONDS),30) $(ONLY)

ci: ## what a change must pass: lint, tests, sanitizers, fuzzers, bare build, the gate
	@tools/ci.sh

release: ## the release for IMAGES=registry.example/team, signed with KEY=FILE (KEY=none: without signatures), into dist/ (as root)
	@IMAGES="$(IMAGES)" KEY="$(KEY)" tools/release.sh --check
	@tools/install.sh && tools/install.sh --images && tools/install.sh --cluster && tools/install.sh --release
	@IMAGES="$(IMAGES)" KEY="$(KEY)" tools/release.sh

clean: ## remove the build
	@rm -rf build dist
