#!/usr/bin/env bash
# Builds deltaic._rust in the dev profile and installs the package into .venv as an editable one; with a FOLDER, writes its
# wheel there instead.
# Does nothing if neither the Rust sources nor a manifest changed. It shares `target/` with the Rust tests, which
# use the same profile, so that no dependency is built twice.
# Two features for tests, which no release wheel has: `witness` counts requests and memory, `provoke` reports the
# location of panics and panics on request.
set -euo pipefail

cd -P "$(dirname "$0")/.."
stamp=.venv/.extension
extension=python/deltaic/_rust.abi3.so
run_maturin() {
  env -u CONDA_PREFIX VIRTUAL_ENV="$PWD/.venv" .venv/bin/maturin "$@" --locked --profile dev --features witness,provoke
}

if [ $# -gt 0 ]; then
  run_maturin build --out "$1"
  exit 0
fi
if [ -f "$stamp" ] && [ -f "$extension" ] \
  && [ -z "$(find rust Cargo.toml Cargo.lock pyproject.toml -newer "$stamp" -type f -print -quit)" ]; then
  exit 0
fi
echo "develop: building the extension (a clean build takes some minutes)"
envs/crates.sh restore
touch "$stamp.begun" # a source that is saved during the build must be newer
run_maturin develop
mv "$stamp.begun" "$stamp"
