# Each target calls CMake or a script. `make help` lists them.
BUILD ?= build
PREFIX ?= /usr/local
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1

.PHONY: all run test test-core coverage studio studio-single blender python bench validate fuzz soak crossings format lint docs install clean help

all: ## build the library and the program into build/
	@test -f $(BUILD)/build.ninja || cmake --preset release -B $(BUILD) >/dev/null
	@cmake --build $(BUILD)

run: ## install what is missing, build, and simulate a scene
	@scripts/setup run
	@$(MAKE) --no-print-directory all
	@scripts/run $(BUILD)

test: ## install what is missing, build every configuration, and run all tests and checks
	@scripts/setup test
	@scripts/test

test-core: ## the same without the studio, for those who embed the library
	@scripts/setup test
	@scripts/test source release sanitize thread plain clang wasm

studio: ## build the page for the browser into build/studio; `build/sinew studio` serves it
	@scripts/setup studio
	@$(MAKE) --no-print-directory all
	@scripts/studio

studio-single: ## build the page as one file, build/studio.html
	@scripts/setup studio
	@scripts/studio --single

blender: ## pack the add-on for Blender as build/sinew-blender.zip
	@scripts/blender

python: ## build the Python module and install it into build/venv
	@scripts/setup python
	@scripts/python

bench: ## measure the speed, and compare it with the limits of the machine and with Bullet
	@scripts/setup bench
	@scripts/bench $(BUILD)

validate: ## recompute every accuracy claim, and compare with the known gaps
	@scripts/setup validate
	@scripts/validate $(BUILD)

fuzz: ## fuzz every file reader, FUZZ_SECONDS each (default 60)
	@scripts/fuzz

coverage: ## measure which lines and branches of the libraries the tests run
	@scripts/setup test
	@scripts/coverage

soak: all ## run random valid scenes, SOAK_SECONDS long (default 60), and keep what fails
	@SINEW=$(BUILD)/sinew python3 tests/soak/soak.py --seconds $(or $(SOAK_SECONDS),60) --keep $(BUILD)/soak

crossings: all ## look for intersections in 10 000 random scenes and all steps of the examples: hours
	@$(BUILD)/sinew-proof validate C4 --whole

format: ## format all C files
	@scripts/format

lint: ## check formatting and source rules, run clang-tidy and cppcheck
	@scripts/lint

docs: ## build the site into build/site
	@scripts/setup docs
	@scripts/docs

install: all ## install into PREFIX (default /usr/local)
	@cmake --install $(BUILD) --prefix $(PREFIX)

clean: ## remove everything that was built
	rm -rf build build-*

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1	\2/p' Makefile | expand -t 18
