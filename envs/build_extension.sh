#!/usr/bin/env bash
# Builds deltaic._rust in the dev profile and installs the package into .venv as an editable one.
# Does nothing while neither the Rust sources nor a manifest changed. Cargo's folder `target/` is
# shared with the Rust tests, which use the same profile, so neither builds a dependency twice.
# It can say what it did (the feature `witness`), which no release wheel can: tests count requests and memory.
# It tells where it broke off, and breaks off on demand (the feature `provoke`), which no release wheel can.
set -euo pipefail

cd -P "$(dirname "$0")/.."
stamp=.venv/.extension
extension=python/deltaic/_rust.abi3.so

if [ -f "$stamp" ] && [ -f "$extension" ] \
  && [ -z "$(find rust Cargo.toml Cargo.lock pyproject.toml -newer "$stamp" -type f -print -quit)" ]; then
  exit 0
fi
echo "develop: building the extension (from nothing this takes some minutes)"
touch "$stamp.begun" # a source saved while this builds must count as newer
env -u CONDA_PREFIX VIRTUAL_ENV="$PWD/.venv" .venv/bin/maturin develop --locked --profile dev --features witness,provoke
mv "$stamp.begun" "$stamp"
