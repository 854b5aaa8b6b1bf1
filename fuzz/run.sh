#!/usr/bin/env bash
# Runs fuzz targets for some seconds each, with AddressSanitizer, from their seeds and the corpus of earlier runs.
# With 0 seconds it only runs the existing inputs. At the end it prints a summary line for each target.
set -euo pipefail

seconds=${1:?usage: fuzz/run.sh SECONDS [TARGET...]}
shift
cd "$(dirname "$0")/.."
if ! command -v cargo-fuzz > /dev/null; then
  echo "missing: cargo-fuzz (cargo install cargo-fuzz --locked)" >&2
  exit 1
fi
if ! rustup toolchain list 2> /dev/null | grep -q '^nightly'; then
  echo "missing: a nightly Rust toolchain (rustup toolchain install nightly)" >&2
  exit 1
fi
all=(fuzz/fuzz_targets/*.rs)
targets=("$@")
[ $# -gt 0 ] || for file in "${all[@]}"; do targets+=("$(basename "$file" .rs)"); done
python3 fuzz/collect_seeds.py ../shared fuzz/golden
# Without names, all targets are built at once.
if [ $# -gt 0 ]; then for name in "$@"; do cargo +nightly fuzz build "$name"; done; else cargo +nightly fuzz build; fi
host=$(rustc -vV | sed -n 's/^host: //p')
binaries=${CARGO_TARGET_DIR:-fuzz/target}/$host/release

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
# Set by cargo-fuzz itself.
export ASAN_OPTIONS=detect_odr_violation=0
limits=(-rss_limit_mb=4096 -print_final_stats=1)
if [ "$seconds" = 0 ]; then limits+=(-runs=0 -timeout=60); else limits+=(-max_total_time="$seconds" -timeout=10); fi
lines=()
failed=0
for name in "${targets[@]}"; do
  echo "fuzz: $name for $seconds seconds"
  folders=("fuzz/corpus/$name" "fuzz/seeds/$name")
  [ ! -d "fuzz/golden/$name" ] || folders+=("fuzz/golden/$name")
  # Bombs are slow, and so are their mutations.
  [ "$seconds" != 0 ] || [ ! -d "fuzz/bombs/$name" ] || folders+=("fuzz/bombs/$name")
  mkdir -p "fuzz/corpus/$name" "fuzz/artifacts/$name"
  # Targets with the same first word share its dictionary.
  dictionary="fuzz/dictionaries/$name.dict"
  [ -f "$dictionary" ] || dictionary="fuzz/dictionaries/${name%%_*}.dict"
  found=none
  if ! "$binaries/$name" "${folders[@]}" "${limits[@]}" -dict="$dictionary" -artifact_prefix="fuzz/artifacts/$name/" \
    > "$logs/$name" 2>&1; then
    failed=1
    found=$(grep -oE 'fuzz/artifacts/[^ ]+' "$logs/$name" | tail -1 || echo "none was written")
    grep -A4 -E 'panicked|ERROR|SUMMARY' "$logs/$name" | head -20
  fi
  executions=$(grep -oE 'number_of_executed_units: +[0-9]+' "$logs/$name" | grep -oE '[0-9]+$' || echo '?')
  covered=$(grep -oE 'cov: [0-9]+ ft: [0-9]+ corp: [0-9]+' "$logs/$name" | tail -1 || echo '?')
  lines+=("$(printf '%-18s %12s executions  %-40s crash: %s' "$name" "$executions" "$covered" "$found")")
done
printf '\n%s\n' "fuzz: what was done"
printf '%s\n' "${lines[@]}"
exit "$failed"
