#!/usr/bin/env bash
# Installs the wheel of DIST into FOLDER/venv and copies the tests to FOLDER/project, so that nothing of the source tree can be
# imported. FOLDER is outside of the tree; ../shared is linked beside the copy. Other packages are those of .venv.
set -euo pipefail

folder=${1:?usage: envs/install_wheel.sh FOLDER DIST}
dist=${2:?usage: envs/install_wheel.sh FOLDER DIST}
top=$(cd "$(dirname "$0")/.." && pwd -P)
purelib='import sysconfig; print(sysconfig.get_path("purelib"))'

"$top/.venv/bin/python" -m venv "$folder/venv"
# Path files of another environment are not read, such as the one that makes the source tree importable there.
"$top/.venv/bin/python" -c "$purelib" > "$("$folder/venv/bin/python" -c "$purelib")/development.pth"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-index --no-deps "$dist"/*.whl
"$folder/venv/bin/pip" check --quiet

mkdir "$folder/project"
cp -R "$top/tests" "$top/docs" "$top/pyproject.toml" "$folder/project"
[ ! -d "$top/../shared" ] || ln -s "$(cd "$top/../shared" && pwd -P)" "$folder/shared"

cd "$folder/project"
installed=$("$folder/venv/bin/python" -c 'import deltaic; print(deltaic.__file__)')
case "$installed" in
  "$(cd "$folder" && pwd -P)"/venv/*) echo "install_wheel: the tests import $installed" ;;
  *) echo "install_wheel: the tests would import $installed, and not the wheel" >&2; exit 1 ;;
esac
