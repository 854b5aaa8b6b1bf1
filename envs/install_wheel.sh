#!/usr/bin/env bash
# Installs the wheel of dist/ into FOLDER/venv and copies the tests to FOLDER/project, so that nothing of the source tree can be
# imported. FOLDER is outside of the tree; ../shared is linked beside the copy.
set -euo pipefail

folder=${1:?usage: envs/install_wheel.sh FOLDER}
top=$(cd "$(dirname "$0")/.." && pwd -P)
# What the tests need besides pyarrow, which the wheel requires, in the versions of requirements-dev.txt.
packages='pyarrow|pandas|polars|duckdb|rich|pytest|hypothesis'

"${PYTHON:-$top/.venv/bin/python}" -m venv "$folder/venv"
grep -E "^($packages)==" "$top/requirements-dev.txt" > "$folder/requirements.txt"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$folder/requirements.txt" "$top"/dist/*.whl

mkdir "$folder/project"
cp -R "$top/tests" "$top/docs" "$top/pyproject.toml" "$folder/project"
[ ! -d "$top/../shared" ] || ln -s "$(cd "$top/../shared" && pwd -P)" "$folder/shared"

cd "$folder/project"
installed=$("$folder/venv/bin/python" -c 'import deltaic; print(deltaic.__file__)')
case "$installed" in
  "$(cd "$folder" && pwd -P)"/venv/*) echo "install_wheel: the tests import $installed" ;;
  *) echo "install_wheel: the tests would import $installed, and not the wheel" >&2; exit 1 ;;
esac
