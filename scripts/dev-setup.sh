#!/usr/bin/env bash
# Prepares a Debian or Ubuntu machine for development: the programs that tests start, the packages, and the
# hooks of git. The script is idempotent. Other systems need the same programs (CONTRIBUTING.md).
set -euo pipefail
cd "$(dirname "$0")/.."

# Programs for browser tests, guides in zsh, a rolling restart behind HAProxy, an adapter in Python, alert
# rules, and backups of Debian's PostgreSQL.
programs=(git curl chromium zsh haproxy python3 prometheus psql pgbackrest)
declare -A packages=([psql]=postgresql)
missing=()
for program in "${programs[@]}"; do
  command -v "$program" >/dev/null || missing+=("${packages[$program]:-$program}")
done
if [ "${#missing[@]}" -gt 0 ]; then
  command -v apt-get >/dev/null || { echo "Install: ${missing[*]}" >&2; exit 1; }
  root=()
  if [ "$(id -u)" != 0 ]; then root=(sudo); fi
  "${root[@]}" apt-get update -qq
  "${root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}"
fi

npm ci
npm run --silent hooks
echo 'Ready: `npm start` starts the server, `npm test` runs the main suite.'
