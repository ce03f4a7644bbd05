#!/usr/bin/env bash
# Builds the package's wheel for manylinux_2_28, checks what it is linked to, and uses it in fresh environments.
#
#     python/wheel.sh FOLDER                            with every python3.N from 3.11 on that is found
#     python/wheel.sh FOLDER python3.11 python3.14      with these
#
# The linker is zig's, which knows the symbols of each version of glibc: the machine's own may be newer.
set -euo pipefail
folder=$(realpath -m "${1:?the folder for the wheel}")
shift
cd "$(dirname "$0")/.."
tools=${CARGO_TARGET_DIR:-target}/wheel-tools
[ -x "$tools/bin/python" ] || python3 -m venv "$tools"
"$tools/bin/pip" install -q "maturin[zig]>=1.9,<2" "auditwheel>=6,<7"

rm -rf "$folder"
PATH="$(realpath "$tools")/bin:$PATH" maturin build --release --locked --zig --compatibility manylinux_2_28 \
    --manifest-path python/Cargo.toml --out "$folder"
wheel=$(echo "$folder"/topostream-*.whl)
ls -l "$wheel"

# The tag is what the symbols allow, and no library is needed beside those of glibc.
allowed=$("$tools/bin/auditwheel" show "$wheel" | tr -s '\n ' ' ' | grep -oE 'platform tag: "manylinux_[0-9a-z_]+')
echo "auditwheel: $allowed\""
minor=${allowed##*_2_} && minor=${minor%%_*}
[ "$minor" -le 28 ] || { echo "the wheel needs glibc 2.$minor, newer than 2.28" >&2; exit 1; }
"$tools/bin/python" - "$wheel" <<'END'
import io, sys, zipfile
from elftools.elf.elffile import ELFFile
GLIBC = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1"}
GLIBC |= {"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
archive = zipfile.ZipFile(sys.argv[1])
[module] = [name for name in archive.namelist() if name.endswith(".so")]
tags = ELFFile(io.BytesIO(archive.read(module))).get_section_by_name(".dynamic").iter_tags("DT_NEEDED")
needed = {tag.needed for tag in tags}
print(f"{module} is linked to {', '.join(sorted(needed))}")
sys.exit(f"other libraries: {', '.join(needed - GLIBC)}" if needed - GLIBC else 0)
END

[ $# -gt 0 ] || for python in python3.{11..19}; do
    "$python" -c '' 2>/dev/null && set -- "$@" "$python"
done
[ $# -gt 0 ] || { echo "no python3.11 or newer is found to try the wheel with" >&2; exit 1; }
for python in "$@"; do
    fresh=$(mktemp -d)
    "$python" -m venv "$fresh"
    "$fresh/bin/pip" install -q --only-binary :all: "$wheel"
    (cd "$fresh" && "$fresh/bin/python" "$OLDPWD/python/smoke.py")
    rm -rf "$fresh"
done
