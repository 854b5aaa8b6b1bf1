#!/usr/bin/env bash
# Prints the major version of the Java that Spark uses; fails with one line if it is older than 17 or missing.
set -euo pipefail

java=java
[ -n "${JAVA_HOME:-}" ] && java=$JAVA_HOME/bin/java
major=$("$java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p' | head -n 1 || true)
if [ -z "$major" ] || [ "$major" -lt 17 ]; then
  echo "missing: Java 17 or newer, for Spark (on Debian: openjdk-17-jre-headless); found: ${major:-none}" >&2
  exit 1
fi
echo "$major"
