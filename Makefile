# Thin: a few lines over CMake presets. `make setup` is the only target that installs anything.
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
JOBS ?= $(shell nproc)

all: build/build.ninja
	cmake --build build -j $(JOBS)

build/build.ninja:
	cmake --preset release

# What building and testing need, from Debian's packages.
setup:
	$(SUDO) apt-get update -qq
	grep -v '^$$' packages.txt | xargs $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends

demo: setup
	$(MAKE) build/build.ninja
	cmake --build build -j $(JOBS) --target tare
	python3 examples/demo/demo.py --tare build/bin/tare --report build/demo-report.html

test: setup
	$(MAKE) all
	ctest --test-dir build --output-on-failure -j $(JOBS)
	$(MAKE) python-test

# A wheel that carries what it needs, in build/wheel. The compilers by the names the main build uses, so that
# ccache finds what it has.
wheel:
	python3 -m venv build/wheel-venv
	CC=cc CXX=c++ CMAKE_CXX_COMPILER_LAUNCHER=ccache build/wheel-venv/bin/pip wheel -q --no-deps -w build/wheel .

# The Python package in a clean virtual environment.
python-test: wheel
	sh tests/python/run.sh build/wheel build/test_data

# The fast tests under AddressSanitizer and UBSan with leak detection.
asan:
	cmake --preset asan
	cmake --build build/asan -j $(JOBS) --target tare tare_unit_tests op_conformance tare_model_tests tare_capi_tests
	ctest --test-dir build/asan --output-on-failure -L asan

# What many threads do at once, under ThreadSanitizer.
tsan:
	cmake --preset tsan
	cmake --build build/tsan -j $(JOBS) --target tare_unit_tests tare_model_tests
	ctest --test-dir build/tsan --output-on-failure -L tsan

# A thousand cycles of every model the tests cycle a hundred times, and of loads that fail.
soak: all
	CYCLES=1000 python3 tests/soak/soak_models.py --tare build/bin/tare --data build/test_data

# Tare beside TensorFlow, OpenVINO, ONNX Runtime and LiteRT; docs/performance.md tells how. MODELS: SavedModels or
# folders of them. PEERS_PYTHON and TF_PYTHON name the interpreters that have the peers.
MODELS ?= build/bench_models
bench: all
	python3 bench/peers.py $(MODELS) --tare build/bin/tare $(BENCH_OPTIONS)

# The C API: library, headers, pkg-config file, CMake package.
PREFIX ?= /usr/local
install: all
	cmake --install build --prefix $(PREFIX) --component capi

# Programs written for libtensorflow, unchanged, on ours: Node's suite, and load, run and unload from Node and Java.
clients: all
	ctest --test-dir build --output-on-failure -R unpack_test_data
	for c in tfjs tfjs-cycles java; do \
	  sh tests/clients/run.sh $$c build/clients build/lib include build/test_data || [ $$? = 77 ] || exit 1; \
	done

clean:
	rm -rf build

.PHONY: all setup demo test wheel python-test asan tsan soak install clients bench clean
