# One recipe for each task; `make` lists them. Each recipe installs what it needs, and does so only once.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory

# PYTHON=python3.12 selects an interpreter; the default is the first one that all test environments support.
ifndef PYTHON
PYTHON = $(shell for p in python3 python3.11 python3.12 python3.13 python3.10; do \
	"$$p" -c 'import ensurepip, sys; sys.exit(not (3, 10) <= sys.version_info < (3, 14))' 2>/dev/null \
	&& { echo "$$p"; break; }; done)
endif

# Benchmarks: the fraction of the full size of each workload, the repetitions of each measurement, and the workloads
# (comma-separated). Only a complete run at full size rewrites the page.
SCALE ?= 1
REPEAT ?= 5
ONLY ?=
# Fuzzing: seconds for each target.
SECONDS_EACH ?= 60

# Races: processes, commits of each on a disk and on S3, killed appends (verbs are killed at every step), and turns of the comparison with deltalake.
WRITERS ?= 8
COMMITS ?= 500
STORE_COMMITS ?= 100
KILLS ?= 150
TURNS ?= 5

VENV := .venv
BIN := $(VENV)/bin
# Searches: number of seeds, so many times the cases of a seed, and the number that an earlier search began with.
SEEDS ?= 1
SIZE ?= 1
SEED ?=
# Mutants: which part of them to test; 0/4 is the first of four.
SHARD ?= 0/1
# The Spark versions of `make test-spark-matrix`.
VERSIONS ?= 4.0 4.1 4.2 4.3
# The sources of a release wheel.
WHEEL_SOURCES = $(shell find rust python -name '*.rs' -o -name '*.toml' -o -name '*.py' -o -name '*.pyi') \
	Cargo.toml Cargo.lock pyproject.toml README.md

.PHONY: help
help: ## list the recipes
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: need-java develop ## create, append, read, change, merge and query with Spark, on real data
	@$(BIN)/python examples/flights.py

.PHONY: test
test: need-cargo $(if $(CI),need-java) venv ## run all tests (Rust, Python, Spark 4.3 and 4.0, interop), with a summary
	@PYTHON="$(PYTHON)" $(BIN)/python tests/run.py

.PHONY: quick
quick: need-cargo venv ## check what changed since main: formatting, lints and the tests of the changed files
	@$(BIN)/python tests/quick.py

.PHONY: test-wheel
test-wheel: need-cargo venv ## build the release wheel, install it outside of the tree and test it there: before each release
	@$(BIN)/python tests/run.py wheel

.PHONY: test-spark-matrix
test-spark-matrix: need-cargo need-java venv ## run all Spark tests with each of VERSIONS="4.0 4.1 4.2 4.3", with a summary
	@PYTHON="$(PYTHON)" $(BIN)/python tests/run.py --all-tables $(addprefix spark,$(subst .,,$(VERSIONS)))

.PHONY: interop
interop: need-cargo need-java venv ## check that delta-spark reads what deltaic wrote, and changes tables alike
	@PYTHON="$(PYTHON)" $(BIN)/python tests/run.py interop

.PHONY: check
check: need-cargo venv ## check formatting, lints and types
	@$(BIN)/python tests/run.py lints

.PHONY: format
format: need-cargo venv ## format Rust and Python sources
	@cargo fmt --all
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format .

.PHONY: requirements
requirements: venv ## which of the protocol's requirements the last `make test` proved (ARGS=--open lists the others)
	@$(BIN)/python tests/requirements.py $(ARGS)

.PHONY: bench
bench: .envs/bench/.ready ## compare a release build with other libraries; writes docs/background/benchmarks.md, fails if a budget is missed (SCALE=1 REPEAT=5 ONLY=)
	@[ -n "$(ONLY)" ] || .envs/bench/bin/python benches/python/vectors.py --repeat $(REPEAT) \
		$(if $(filter-out 1 1.0,$(SCALE)),,--markdown docs/background/benchmarks.md)
	@for script in writing merging; do \
		[ -n "$(ONLY)" ] || .envs/bench/bin/python benches/python/$$script.py --scale $(SCALE) --repeat $(REPEAT) \
			$(if $(filter-out 1 1.0,$(SCALE)),,--markdown docs/background/benchmarks.md) || failed=1; \
	done; \
	.envs/bench/bin/python benches/python/run.py --scale $(SCALE) --repeat $(REPEAT) --only "$(ONLY)" \
		$(if $(ONLY)$(filter-out 1 1.0,$(SCALE)),,--markdown docs/background/benchmarks.md) && exit $${failed:-0}

.PHONY: bench-matrix
bench-matrix: .envs/bench/.ready ## compare reading columns of every type, encoding and writer with polars and deltalake; prints a table (ROWS=2000000 REPEAT=3 ONLY=)
	@.envs/bench/bin/python benches/python/reading_matrix.py --rows $(or $(ROWS),2000000) --repeat $(REPEAT) --only "$(or $(ONLY),*)"

.PHONY: bench-writes
bench-writes: .envs/bench/.ready ## compare append, overwrite, delete and update with deltalake; writes its section of the page (SCALE=1 REPEAT=5 ONLY=)
	@.envs/bench/bin/python benches/python/writing.py --scale $(SCALE) --repeat $(REPEAT) --only "$(ONLY)" \
		$(if $(ONLY)$(filter-out 1 1.0,$(SCALE)),,--markdown docs/background/benchmarks.md)

.PHONY: bench-merges
bench-merges: .envs/bench/.ready ## compare merges with deltalake and with the join of DuckDB; writes its section of the page (SCALE=1 REPEAT=3 ONLY=)
	@.envs/bench/bin/python benches/python/merging.py --scale $(SCALE) --only "$(ONLY)" \
		$(if $(filter command line environment,$(origin REPEAT)),--repeat $(REPEAT)) \
		$(if $(ONLY)$(filter-out 1 1.0,$(SCALE)),,--markdown docs/background/benchmarks.md)

.PHONY: bench-optimize
bench-optimize: .envs/bench/.ready ## compare compaction and Z-order with deltalake; writes its section of the page (SCALE=1 REPEAT=3 ONLY=)
	@.envs/bench/bin/python benches/python/optimizing.py --scale $(SCALE) --only "$(ONLY)" \
		$(if $(filter command line environment,$(origin REPEAT)),--repeat $(REPEAT)) \
		$(if $(ONLY)$(filter-out 1 1.0,$(SCALE)),,--markdown docs/background/benchmarks.md)

.PHONY: bench-merge-memory
bench-merge-memory: .envs/bench/.ready ## merge 20 million rows into 20 million with 256 MiB; fails if the process takes more than 400 MiB or leaves files (ONLY=)
	@.envs/bench/bin/python benches/python/merge_memory.py $(if $(ONLY),--only "$(ONLY)")

.PHONY: bench-vacuum
bench-vacuum: .envs/bench/.ready ## vacuum 100,000 of a million files on a disk, beside deltalake; fails if it takes more than half of its time or memory (TURNS=5)
	@.envs/bench/bin/python benches/python/vacuuming.py --turns $(TURNS)

.PHONY: bench-spark
bench-spark: need-java .envs/bench-spark/.ready ## compare reading in PySpark with delta-spark; writes its section of the page (SCALE=1 REPEAT=3 ONLY=)
	@.envs/bench-spark/bin/python benches/python/spark.py --scale $(SCALE) --only "$(ONLY)" \
		$(if $(filter command line environment,$(origin REPEAT)),--repeat $(REPEAT)) \
		$(if $(ONLY)$(filter-out 1 1.0,$(SCALE)),,--markdown docs/background/benchmarks.md)

.PHONY: bench-spark-writes
bench-spark-writes: need-java .envs/bench-spark/.ready ## compare writing in PySpark with delta-spark; prints a table (SCALE=1 REPEAT=3 ONLY=)
	@.envs/bench-spark/bin/python benches/python/spark_writes.py --scale $(SCALE) \
		$(if $(filter command line environment,$(origin REPEAT)),--repeat $(REPEAT)) $(if $(ONLY),--only "$(ONLY)")

.PHONY: bench-spark-cold
bench-spark-cold: need-java .envs/bench-spark/.ready ## time the first read of a fresh PySpark process, beside plain Parquet
	@.envs/bench-spark/bin/python benches/python/spark_cold.py

.PHONY: fuzz
fuzz: need-cargo need-python ## run every fuzz target for SECONDS_EACH=60 seconds, by coverage and with AddressSanitizer
	@fuzz/run.sh $(SECONDS_EACH)

.PHONY: asan
asan: need-cargo venv ## run AddressSanitizer on all seeds, all earlier findings and the Python extension
	@fuzz/run.sh 0
	@fuzz/asan_extension.sh

.PHONY: races
races: develop .envs/stores/.packages ## run WRITERS=8 processes with COMMITS=500 each on a disk and STORE_COMMITS=100 on S3, KILLS=150, 128 lost responses
	@RACE_WRITERS=$(WRITERS) RACE_COMMITS=$(COMMITS) RACE_STORE_COMMITS=$(STORE_COMMITS) RACE_KILLS=$(KILLS) \
		RACE_KILL_STRIDE=1 RACE_ROW_CHANGES=100 RACE_HOGS=2 RACE_STALLED_APPENDS=2000 RACE_STALL_MS=10000 \
		$(BIN)/python -m pytest -v -s --durations=0 tests/conflicts/test_many_writers.py tests/conflicts/test_kill.py \
		tests/conflicts/test_killed_verbs.py tests/conflicts/test_killed_maintenance.py tests/conflicts/test_many_row_changes.py \
		tests/conflicts/test_restore_beside_writers.py tests/conflicts/test_vacuum_beside_writers.py \
		tests/conflicts/test_starvation.py tests/conflicts/test_stalls.py \
		tests/conflicts/test_lost_answers.py tests/stores/test_races.py

.PHONY: bench-races
bench-races: .envs/bench/.ready .envs/stores/.packages ## compare concurrent commits with deltalake, on a disk and on S3 (WRITERS=8 COMMITS=500 STORE_COMMITS=100 TURNS=5)
	@.envs/bench/bin/python benches/python/races.py --writers $(WRITERS) --commits $(COMMITS) \
		--s3-commits $(STORE_COMMITS) --turns $(TURNS) --s3 .envs/stores/bin/python --markdown docs/background/benchmarks.md

.PHONY: explore
explore: need-java develop ## search with new seeds: all random suites for each of SEEDS=1, or ONLY=programs,merges with SIZE=10 times the cases
	@$(BIN)/python -m tests.explore --seeds $(SEEDS) --size $(SIZE) --only "$(ONLY)" $(if $(SEED),--seed $(SEED))

.PHONY: mutants
mutants: need-cargo ## change the code of skipping, conflicts and checkpoints in one place at a time: does a test fail? (SHARD=0/1)
	@command -v cargo-mutants > /dev/null || { echo "missing: cargo install cargo-mutants --locked" >&2; exit 1; }
	@PROPTEST_CASES=64 nice -n 19 cargo mutants --package deltaic-log --output target/mutants-conflict --jobs 1 --shard $(SHARD) \
		--file 'rust/log/src/transaction/conflict/**' --file 'rust/log/src/transaction/rebase/**' \
		--file rust/log/src/transaction/isolation.rs --file rust/log/src/reconcile.rs --file 'rust/log/src/reconcile/**' \
		-- --locked --lib --test it -- tests:: model:: transactions:: alter:: equivalence:: replay:: checksums:: table_operation::
	@PROPTEST_CASES=16 nice -n 19 cargo mutants --package deltaic-log --output target/mutants-maintenance --jobs 1 --shard $(SHARD) \
		--file 'rust/log/src/checkpoint/**' --file 'rust/log/src/cleanup/**' \
		-- --locked --lib --test it -- tests:: model:: checkpoint_files:: checkpoint_histories:: checkpoint_failures:: cleanup:: whole_adds::
	@PROPTEST_CASES=400 nice -n 19 cargo mutants --package deltaic-protocol --output target --jobs 1 \
		--file 'rust/protocol/src/skipping/**' --file 'rust/protocol/src/expr/evaluate/**' \
		-- --lib --locked -- skipping expr

.PHONY: wheel
wheel: dist/.wheel ## build a release wheel in dist/
	@ls -1 dist/*.whl

.PHONY: docs
docs: need-cargo ## build the documentation of the Rust crates in target/doc
	@cargo doc --locked --no-deps --workspace --exclude deltaic-python

.PHONY: develop
develop: need-cargo venv ## install the package with a development build of its Rust core in .venv
	@envs/build_extension.sh

.PHONY: venv
venv: need-python
	@PYTHON="$(PYTHON)" envs/make_venv.sh

.PHONY: clean
clean: ## remove all build results and environments
	rm -rf target fuzz/target fuzz/corpus fuzz/golden fuzz/artifacts dist .venv .envs python/deltaic/_rust.abi3.so
	rm -rf .pytest_cache .ruff_cache .hypothesis spark-warehouse metastore_db derby.log
	find python tests examples benches -name __pycache__ -prune -exec rm -rf {} +

# The release wheel. It is built only if dist/ contains none that is newer than its sources.
dist/.wheel: $(WHEEL_SOURCES) | need-cargo venv
	@rm -rf dist
	@$(BIN)/maturin build --release --locked --out dist
	@touch $@

# The stores that tests start: moto and Azurite.
.envs/stores/.packages: envs/stores.txt envs/stores-npm.json | venv
	@envs/make_env.sh stores
	@touch $@

# The benchmarks' environment contains the release wheel and the other libraries, not the development build.
.envs/bench/.ready: dist/.wheel benches/python/requirements.txt
	@rm -rf .envs/bench
	@echo "bench: creating .envs/bench with the release wheel and the other libraries"
	@$(BIN)/python -m venv .envs/bench
	@.envs/bench/bin/pip install --quiet --disable-pip-version-check -r benches/python/requirements.txt dist/*.whl
	@touch $@

# The Spark environment takes long to install, so a new wheel is installed into the existing one.
.envs/bench-spark/.ready: dist/.wheel .envs/bench-spark/.peers
	@.envs/bench-spark/bin/pip install --quiet --disable-pip-version-check --no-deps --force-reinstall dist/*.whl
	@touch $@

.envs/bench-spark/.peers: benches/python/requirements-spark.txt envs/interop-pom.xml | venv
	@command -v mvn > /dev/null || { echo "missing: mvn (Maven), which downloads delta-spark's jars" >&2; exit 1; }
	@rm -rf .envs/bench-spark
	@echo "bench-spark: creating .envs/bench-spark with PySpark, delta-spark and the other libraries"
	@$(BIN)/python -m venv .envs/bench-spark
	@.envs/bench-spark/bin/pip install --quiet --disable-pip-version-check -r benches/python/requirements-spark.txt
	@mvn --batch-mode --quiet --file envs/interop-pom.xml dependency:copy-dependencies \
		-DoutputDirectory="$(CURDIR)/.envs/bench-spark/jars" < /dev/null
	@touch $@

# What must be installed. Each recipe reports what is missing in one line.
.PHONY: need-cargo need-python need-java
need-cargo:
	@command -v cargo > /dev/null || { echo "missing: a Rust toolchain with cargo (https://rustup.rs)" >&2; exit 1; }
need-python:
	@[ -n "$(PYTHON)" ] || { echo "missing: Python 3.10 to 3.13 with venv (on Debian: python3-venv); or specify one with PYTHON=" >&2; exit 1; }
need-java:
	@envs/find_java.sh > /dev/null
