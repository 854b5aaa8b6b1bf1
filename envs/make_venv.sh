#!/usr/bin/env bash
# Makes .venv, the environment for development, from requirements-dev.txt with $PYTHON.
# Does nothing the second time; makes it anew when the packages' list, the checkout's place or the interpreter changed.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd -P)
env=$top/.venv
wanted=$({ echo "$top"; cat "$top/requirements-dev.txt"; } | cksum)

if [ -f "$env/.packages" ] && [ "$(cat "$env/.packages")" = "$wanted" ] && "$env/bin/python" -c 'import pip' 2> /dev/null; then
  exit 0
fi
: "${PYTHON:?names the interpreter for .venv}"
echo "venv: making .venv with $("$PYTHON" --version) and requirements-dev.txt"
rm -rf "$env"
"$PYTHON" -m venv "$env"
"$env/bin/pip" install --quiet --disable-pip-version-check --requirement "$top/requirements-dev.txt"
echo "$wanted" > "$env/.packages"
