# What a person types. Everything else is CMake's business.
BUILD ?= build
CMAKE_FLAGS ?=
JOBS ?= $(shell nproc)

.PHONY: help demo build test gpu-test test-clients test-real-tokenizers test-opencode fuzz sanitize format check clean deps

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

test-real-tokenizers: deps ## compare with real tokenizers from npm; a developer asks for it
	@cmake -S . -B $(BUILD) -G Ninja -DNMC_TESTS=ON $(CMAKE_FLAGS)
	@cmake --build $(BUILD) -j $(JOBS) --target tokenizer_encode_lines
	@tests/runtime/text/tokenizer/oracle/run_real $(BUILD)

test-opencode: build ## OpenCode, fetched by npm, does three small tasks with the bundled model
	@tests/e2e/opencode/run $(BUILD)

sanitize: ## the tests under AddressSanitizer + UndefinedBehaviorSanitizer, then ThreadSanitizer
	@tools/scripts/sanitize

fuzz: ## every fuzz target for a short time (FUZZ_SECONDS each, default 20)
	@tools/scripts/fuzz

check: ## include direction, longest files, formatting
	@.ci/check_house
	@tools/scripts/check_format

format: ## clang-format every source file
	@git ls-files '*.h' '*.cpp' '*.cu' '*.cuh' | xargs clang-format -i

deps:
	@tools/scripts/install_packages build test

clean: ## remove what was built
	@rm -rf $(BUILD) build-*
