#!/usr/bin/env bash
# Installs the clients that are not Go, as their lock files say, into the
# user's cache, and links them into clients/. Does nothing where that is done.
set -euo pipefail
cd "$(dirname "$0")/clients"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/a2aexec/interop"
mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9 # two checkouts may share the cache

# place CLIENT LOCKFILE gives the folder for what the lock file asks for.
place() { echo "$cache/$1-$(sha256sum "$1/$2" | cut -c1-16)"; }

for c in js js03; do
	dir=$(place "$c" package-lock.json)
	if [ ! -e "$dir/complete" ]; then
		rm -rf "$dir" && mkdir "$dir"
		cp "$c/package.json" "$c/package-lock.json" "$dir"
		(cd "$dir" && npm ci --ignore-scripts --no-audit --no-fund)
		touch "$dir/complete"
	fi
	ln -sfn "$dir/node_modules" "$c/node_modules"
done

for c in python python03; do
	dir=$(place "$c" requirements.txt)
	if [ ! -e "$dir/complete" ]; then
		rm -rf "$dir" && mkdir "$dir"
		python3 -m venv "$dir/venv"
		"$dir/venv/bin/python" -m pip install --quiet --no-deps --no-compile --disable-pip-version-check -r "$c/requirements.txt"
		"$dir/venv/bin/python" -m pip check
		touch "$dir/complete"
	fi
	ln -sfn "$dir/venv" "$c/venv"
done
