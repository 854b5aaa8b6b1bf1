#!/usr/bin/env bash
# Creates .venv, the development environment, from requirements-dev.txt with $PYTHON.
# Does nothing if it is up to date; creates it again if requirements, checkout path or interpreter changed.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd -P)
env=$top/.venv
wanted=$({ echo "$top"; cat "$top/requirements-dev.txt"; } | cksum)

if [ -f "$env/.packages" ] && [ "$(cat "$env/.packages")" = "$wanted" ] && "$env/bin/python" -c 'import pip' 2> /dev/null; then
  exit 0
fi
: "${PYTHON:?must be the interpreter for .venv}"
echo "venv: creating .venv with $("$PYTHON" --version) and requirements-dev.txt"
rm -rf "$env"
"$PYTHON" -m venv "$env"
"$top/envs/install_pinned.sh" "$env" "$top/requirements-dev.txt"
echo "$wanted" > "$env/.packages"
