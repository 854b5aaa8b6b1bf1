#!/usr/bin/env bash
# Installs REQUIREMENTS into the virtual environment ENV. Fails if a package comes along that they do not pin: an environment
# made later would have another version of it.
set -euo pipefail

env=${1:?usage: envs/install_pinned.sh ENV REQUIREMENTS}
requirements=${2:?usage: envs/install_pinned.sh ENV REQUIREMENTS}
names() { sed -nE 's/^([A-Za-z0-9._-]+)(\[[a-z,]+\])?==.*/\1/p' | tr 'A-Z_.' 'a-z--' | sort -u; }

"$env/bin/pip" install --quiet --disable-pip-version-check --requirement "$requirements"
missing=$(comm -13 <(names < "$requirements") \
  <("$env/bin/pip" list --disable-pip-version-check --format=freeze --exclude pip --exclude setuptools --exclude deltaic | names))
[ -z "$missing" ] || { echo "not pinned in ${requirements##*/}:" $missing >&2; exit 1; }

# Spark's Python processes would import PySpark from this archive and compile it at every start, which takes three
# times as long as importing the installed package. Spark waits 10 s for some of them: too short on a slow machine.
rm -f "$env"/lib/python*/site-packages/pyspark/python/lib/pyspark.zip
