#!/bin/sh
# Installs the workspace when it is not in line with the lockfile, then runs the given command with the workspace's own Node and tools
# first on PATH. Needs only Node 18 or newer with npm, a directory it may write, and a registry that npm is configured for.
#
#   scripts/bootstrap.sh node scripts/setup/setup.ts
set -eu
cd "$(dirname "$0")/.."
root=$(pwd -P)

command -v npm >/dev/null || { echo "bootstrap: npm is missing; install Node 18 or newer with npm and run again" >&2; exit 1; }

# npm and pnpm keep their caches below HOME; where that is unset or not writable they get one in the checkout
if [ ! -d "${HOME:-}" ] || [ ! -w "${HOME:-}" ]; then
  HOME=$root/.galley/home
  mkdir -p "$HOME"
  export HOME
fi

# the stamp holds what the installation depends on; pnpm checks the rest
stamp=$root/node_modules/.galley-bootstrap
wanted=$(cat pnpm-lock.yaml pnpm-workspace.yaml package.json | cksum)
if [ ! -x node_modules/.bin/node ] || [ "$(cat "$stamp" 2>/dev/null || true)" != "$wanted" ]; then
  echo "bootstrap: installing the workspace"
  mkdir -p "$root/.galley"
  npx -y pnpm@12.4.2 install --frozen-lockfile --reporter=append-only >"$root/.galley/bootstrap.log" 2>&1 || {
    tail -n 20 "$root/.galley/bootstrap.log" >&2
    echo "bootstrap: pnpm install failed; the whole output is in .galley/bootstrap.log" >&2
    exit 1
  }
  printf '%s' "$wanted" >"$stamp"
fi

PATH=$root/node_modules/.bin:$PATH
export PATH
[ $# -eq 0 ] || exec "$@"
