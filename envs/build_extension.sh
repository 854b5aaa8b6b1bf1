#!/usr/bin/env bash
# Builds deltaic._rust in the dev profile and installs the package into .venv as an editable one.
# Does nothing if neither the Rust sources nor a manifest changed. It shares `target/` with the Rust tests, which
# use the same profile, so that no dependency is built twice.
# Two features for tests, which no release wheel has: `witness` counts requests and memory, `provoke` reports the
# location of panics and panics on request.
set -euo pipefail

cd -P "$(dirname "$0")/.."
stamp=.venv/.extension
extension=python/deltaic/_rust.abi3.so

if [ -f "$stamp" ] && [ -f "$extension" ] \
  && [ -z "$(find rust Cargo.toml Cargo.lock pyproject.toml -newer "$stamp" -type f -print -quit)" ]; then
  exit 0
fi
echo "develop: building the extension (a clean build takes some minutes)"
touch "$stamp.begun" # a source that is saved during the build must be newer
env -u CONDA_PREFIX VIRTUAL_ENV="$PWD/.venv" .venv/bin/maturin develop --locked --profile dev --features witness,provoke
mv "$stamp.begun" "$stamp"
