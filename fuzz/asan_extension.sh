#!/usr/bin/env bash
# Runs the tests of the Python surface with AddressSanitizer in the extension, whose capsules are the one module with
# `unsafe`. The instrumented extension stays beside the sources; the one that is installed is left alone.
set -euo pipefail

cd -P "$(dirname "$0")/.."
runtime=$(gcc -print-file-name=libasan.so 2> /dev/null || true)
if [ ! -f "$runtime" ]; then
  echo "missing: libasan.so, which comes with gcc" >&2
  exit 1
fi
host=$(rustc -vV | sed -n 's/^host: //p')
target=${CARGO_TARGET_DIR:-fuzz/target}/extension
package=$target/package
RUSTFLAGS="-Zsanitizer=address -Zexternal-clangrt" CARGO_TARGET_DIR=$target \
  PYO3_BUILD_EXTENSION_MODULE=1 PYO3_PYTHON=$PWD/.venv/bin/python \
  cargo +nightly build --locked -p deltaic-python --target "$host"
rm -rf "$package"
mkdir -p "$package"
cp -r python/deltaic "$package/deltaic"
cp "$target/$host/debug/lib_rust.so" "$package/deltaic/_rust.abi3.so"
# The interpreter's own leaks are nobody's here, and it is not linked to the sanitizer's runtime.
LD_PRELOAD=$runtime ASAN_OPTIONS=detect_leaks=0:detect_odr_violation=0 PYTHONPATH=$package \
  .venv/bin/python -m pytest tests/api -q -p no:cacheprovider
