# What one runs here; .ci/run calls the same targets. Each installs what it lacks, outside the clone.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/agent-kourier
# Always the whole workspace: with a choice of packages, features differ, and half of it is compiled twice.
# Builds may share a target directory; the guests' goes beside it, so that no build compiles them twice.
CARGO_TARGET_DIR ?= $(CURDIR)/target
KOURIER_GUEST_TARGET_DIR ?= $(CARGO_TARGET_DIR)/guests
export CARGO_TARGET_DIR KOURIER_GUEST_TARGET_DIR

CARGO_DENY := 0.20.2
WASM := wasm32-wasip2
KOURIER := $(CARGO_TARGET_DIR)/debug/agent-kourier
PROBES := agent-card slack

.PHONY: help setup build fmt lint docs deny test cases fuzz demo demo-kubernetes bench bench-kubernetes crds clean toolchain agents cluster

help: ## Say what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/\1\t\2/' | expand -t 17

setup: toolchain agents cluster ## Install everything that the other targets need

toolchain:
	@command -v cargo >/dev/null || { echo "cargo is not installed: see https://rustup.rs"; exit 1; }
	@! command -v rustup >/dev/null || rustup show active-toolchain >/dev/null 2>&1 || rustup toolchain install
	@rustc --print target-libdir --target $(WASM) | xargs test -d || rustup target add $(WASM)

agents:
	@tests/agents/setup >/dev/null

# Where it cannot be had, for instance without Go, the tests that want it say that they are skipped; under CI they fail.
cluster:
	@tests/cluster/setup >/dev/null || echo "no API server for tests"

build: toolchain ## Build the broker, with its probes, for this machine
	cargo build --release --package agent-kourier

fmt: toolchain ## Format all Rust
	cargo fmt --all
	cd probes && cargo fmt --all
	cd tests/guests && cargo fmt --all
	cd fuzz && cargo fmt --all

lint: toolchain ## Check format and lints of all workspaces
	cargo fmt --all --check
	cd probes && cargo fmt --all --check
	cd tests/guests && cargo fmt --all --check
	cd fuzz && cargo fmt --all --check
	cargo clippy --workspace --all-targets --features suite/bench --locked -- -D warnings
	cd probes && CARGO_TARGET_DIR=$(KOURIER_GUEST_TARGET_DIR) cargo clippy --workspace --all-targets --locked -- -D warnings
	cd fuzz && CARGO_TARGET_DIR=$(KOURIER_GUEST_TARGET_DIR) cargo clippy --all-targets --locked -- -D warnings

docs: toolchain ## Build the API docs, without a warning
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked
	cd probes && RUSTDOCFLAGS="-D warnings" CARGO_TARGET_DIR=$(KOURIER_GUEST_TARGET_DIR) cargo doc --workspace --no-deps --locked

deny: toolchain ## Check licences, bans and sources of all dependencies
	@test -x $(CACHE)/cargo-deny-$(CARGO_DENY)/bin/cargo-deny || { \
	  echo "installing cargo-deny $(CARGO_DENY) (a few minutes, once)"; \
	  cargo install --quiet --locked --debug cargo-deny --version $(CARGO_DENY) --root $(CACHE)/cargo-deny-$(CARGO_DENY) \
	    --target-dir $(CACHE)/cargo-deny-$(CARGO_DENY)/target; \
	  rm -rf $(CACHE)/cargo-deny-$(CARGO_DENY)/target; }
	$(CACHE)/cargo-deny-$(CARGO_DENY)/bin/cargo-deny check licenses bans sources
	$(CACHE)/cargo-deny-$(CARGO_DENY)/bin/cargo-deny --manifest-path fuzz/Cargo.toml check licenses bans sources

test: toolchain agents cluster ## Run all tests and recorded cases, and count them
	@tests/run

cases: toolchain ## Run the recorded cases of the built-in probes
	cargo build --workspace --bins --locked
	@for probe in $(PROBES); do $(KOURIER) probe test probes/$$probe/cases; done

fuzz: toolchain ## Look for inputs that refute what must hold: TIME=60 seconds each, TARGET=card for one
	@CARGO_TARGET_DIR=$(KOURIER_GUEST_TARGET_DIR) fuzz/run $(or $(TIME),60) $(TARGET)

demo: toolchain agents ## See it work: real agents, a Slack, a platform of your own, every reason; KEEP=1 keeps it up
	@echo "building the broker and the demo (minutes the first time)"
	@cargo build --workspace --bins --locked
	@$(CARGO_TARGET_DIR)/debug/demo $(if $(KEEP),keep)

demo-kubernetes: toolchain agents ## See it work on a real API server: the chart, two replicas, kubectl; KEEP=1 as above
	@tests/cluster/setup >/dev/null
	@echo "building the broker and the demo (minutes the first time)"
	@cargo build --workspace --bins --locked
	@$(CARGO_TARGET_DIR)/debug/demo kubernetes $(if $(KEEP),keep)

bench: toolchain ## Measure what a run of a probe costs, and fail if a bound is missed; EARLIER=FILE compares
	cargo run --release --quiet --package suite --features bench --bin bench --locked -- $(CARGO_TARGET_DIR)/bench.json $(EARLIER)

bench-kubernetes: toolchain ## Measure a broker with 2,000 Bindings on a real API server (10 minutes); EARLIER=FILE compares
	@tests/cluster/setup >/dev/null
	cargo run --release --quiet --package suite --features bench --bin bench --locked -- --cluster $(CARGO_TARGET_DIR)/bench-kubernetes.json $(EARLIER)

crds: toolchain ## Write what is made from the Rust types: CRDs, and pages of docs
	UPDATE_COMMITTED=1 cargo test --workspace --lib --locked --quiet
	cp deploy/crds/*.yaml deploy/chart/agent-kourier/files/crds/
	git status --short deploy docs

clean: ## Remove what was built; what was installed outside the clone stays
	cargo clean
	rm -rf $(KOURIER_GUEST_TARGET_DIR) probes/target tests/guests/target fuzz/target
