# What a person types. Everything else is CMake's business.
BUILD ?= build
CMAKE_FLAGS ?=
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local

.PHONY: help demo build test gpu-test test-clients install deb test-fleet test-web test-real-tokenizers test-opencode test-claude-code fuzz sanitize format check clean deps

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 30

demo: ## install what is missing, build, convert the bundled model, serve it, ask it something
	@tools/scripts/demo $(BUILD)

build: deps ## build every program into build/bin
	@cmake -S . -B $(BUILD) -G Ninja -DNMC_TESTS=ON $(CMAKE_FLAGS)
	@cmake --build $(BUILD) -j $(JOBS)

test: build ## build and run every test
	@ctest --test-dir $(BUILD) --no-tests=error --output-on-failure -j $(JOBS)

gpu-test: deps ## on a machine with nvcc and a Hopper GPU: CUDA tests, sanitizers, benchmark
	@tools/scripts/gpu_test $(BUILD)

test-clients: deps ## real clients from npm against the server: SDKs, OpenCode, a load of 64 streams
	@command -v npm >/dev/null || tools/scripts/install_packages clients
	@cmake -S . -B $(BUILD) -G Ninja -DNMC_TESTS=ON $(CMAKE_FLAGS)
	@cmake --build $(BUILD) -j $(JOBS) --target server convert
	@tests/clients/run $(BUILD)

install: build ## install the programs as nmc-... below PREFIX (default: /usr/local)
	@cmake -S . -B $(BUILD) -G Ninja -DNMC_PACKAGE=OFF $(CMAKE_FLAGS)
	@cmake --build $(BUILD) -j $(JOBS) --target man_pages
	@cmake --install $(BUILD) --prefix $(PREFIX)

deb: ## build a Debian package into BUILD
	@tools/scripts/install_packages build package
	@cmake -S . -B $(BUILD) -G Ninja -DNMC_PACKAGE=ON $(CMAKE_FLAGS)
	@cmake --build $(BUILD) -j $(JOBS) --target man_pages
	@cd $(BUILD) && cpack -G DEB

test-fleet: build ## two servers behind HAProxy: kill one, drain one (installs haproxy)
	@tools/scripts/install_packages fleet
	@tests/deploy/haproxy_test.py $(BUILD)

test-web: build ## drive the chat page in chromium, screenshots into BUILD/web (needs node 20 and chromium)
	@mkdir -p $(BUILD)/web
	@tests/server/web/run $(BUILD) $(BUILD)/web

test-real-tokenizers: deps ## compare with real tokenizers from npm; a developer asks for it
	@cmake -S . -B $(BUILD) -G Ninja -DNMC_TESTS=ON $(CMAKE_FLAGS)
	@cmake --build $(BUILD) -j $(JOBS) --target tokenizer_encode_lines
	@tests/runtime/text/tokenizer/oracle/run_real $(BUILD)

test-opencode: build ## OpenCode, fetched by npm, does three small tasks with the bundled model
	@tests/e2e/opencode/run $(BUILD)

test-claude-code: build ## Claude Code, fetched by npm (400 MB), calls a tool; a developer asks for it
	@tests/e2e/claude_code/run $(BUILD)

sanitize: ## the tests under AddressSanitizer + UndefinedBehaviorSanitizer, then ThreadSanitizer
	@tools/scripts/sanitize

fuzz: ## every fuzz target for a short time (FUZZ_SECONDS each, default 20)
	@tools/scripts/fuzz

check: ## include direction, longest files, names, formatting
	@.ci/check_house
	@.ci/check_names
	@tools/scripts/check_format

format: ## clang-format every source file
	@git ls-files '*.h' '*.cpp' '*.cu' '*.cuh' | xargs clang-format -i

deps:
	@tools/scripts/install_packages build test

clean: ## remove what was built
	@rm -rf $(BUILD) build-*
