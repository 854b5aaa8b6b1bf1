#!/usr/bin/env bash
# Compiled crates of the registry, for other checkouts on this machine: `save` copies them from target/ to the user's cache,
# `restore` copies them into a target/ that has none. Cargo verifies each of them and compiles what does not fit, so that
# everything works without the cache. DELTAIC_CRATES is its folder; the crates of two lock files or compilers are kept.
set -euo pipefail

cd -P "$(dirname "$0")/.."
cache=${DELTAIC_CRATES:-${XDG_CACHE_HOME:-$HOME/.cache}/deltaic/crates}
target=${CARGO_TARGET_DIR:-target}/debug
key=$({ cat Cargo.lock Cargo.toml fuzz/Cargo.lock; rustc --version --verbose; } | sha256sum | cut -c 1-16)

case "${1:?usage: envs/crates.sh save|restore}" in
  save)
    [ ! -d "$cache/$key" ] && [ -d "$target/deps" ] || exit 0
    new=$cache/$key.$$
    trap 'rm -rf "$new"' EXIT
    mkdir -p "$new/deps" "$new/build" "$new/.fingerprint"
    # The workspace's own crates stay out: cargo finds changes in them by the times of their sources.
    find "$target/deps" -maxdepth 1 -type f \( -name 'lib*.rlib' -o -name 'lib*.rmeta' -o -name 'lib*.so' -o -name 'lib*.a' \) \
      ! -name 'libdeltaic*' ! -name 'lib_rust*' -exec cp -p -t "$new/deps" {} +
    for folder in build .fingerprint; do
      find "$target/$folder" -mindepth 1 -maxdepth 1 ! -name 'deltaic*' -exec cp -a -t "$new/$folder" {} +
    done
    mv -T "$new" "$cache/$key" 2> /dev/null || exit 0 # another checkout was first
    # shellcheck disable=SC2012 # the names are hashes
    ls -1td "$cache"/*/ | tail -n +3 | xargs -r rm -rf
    echo "crates: saved $(du -sh "$cache/$key" | cut -f 1) for other checkouts"
    ;;
  restore)
    [ -d "$cache/$key" ] && [ ! -d "$target/deps" ] || exit 0
    mkdir -p "$target"
    cp -a -t "$target" "$cache/$key/deps" "$cache/$key/build" "$cache/$key/.fingerprint"
    touch "$cache/$key"
    echo "crates: took the compiled crates from the cache"
    ;;
esac
