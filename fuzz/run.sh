#!/usr/bin/env bash
# Runs every fuzz target for some seconds from its seeds; says in one line what is missing.
set -euo pipefail

seconds=${1:?usage: fuzz/run.sh SECONDS}
cd "$(dirname "$0")"
if ! command -v cargo-fuzz > /dev/null; then
  echo "missing: cargo-fuzz (cargo install cargo-fuzz)" >&2
  exit 1
fi
if ! rustup toolchain list 2> /dev/null | grep -q '^nightly'; then
  echo "missing: a nightly Rust toolchain (rustup toolchain install nightly)" >&2
  exit 1
fi
for target in fuzz_targets/*.rs; do
  name=$(basename "$target" .rs)
  echo "fuzz: $name for $seconds seconds"
  mkdir -p "corpus/$name"
  # Run from here, cargo-fuzz takes this folder's own workspace.
  (cd .. && cargo +nightly fuzz run "$name" "fuzz/corpus/$name" "fuzz/seeds/$name" -- -max_total_time="$seconds" -timeout=10)
done
