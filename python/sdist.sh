#!/usr/bin/env bash
# Builds the package's source distribution, and installs and uses it in a fresh environment: it needs nothing of the
# repository but Rust and a C compiler.
#
#     python/sdist.sh FOLDER                                            as users do: a release build
#     python/sdist.sh FOLDER "--profile=dev"                            with these arguments of `maturin build`; not
#                                                                       --locked, by the lock file of the repository
set -euo pipefail
folder=$(realpath -m "${1:?the folder for the source distribution}")
cd "$(dirname "$0")/.."
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
python3 -m venv "$fresh/tools"
"$fresh/tools/bin/pip" install -q "maturin>=1.9,<2"
rm -rf "$folder"
"$fresh/tools/bin/maturin" sdist --manifest-path python/Cargo.toml --out "$folder"
python3 -m venv "$fresh/venv"
"$fresh/venv/bin/pip" install -q "$folder"/topostream-*.tar.gz ${2:+--config-settings=build-args="$2"}
cp python/smoke.py "$fresh"
(cd "$fresh" && venv/bin/python smoke.py)
