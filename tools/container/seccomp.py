#!/usr/bin/env python3
"""Prints a seccomp profile: another one, such as an engine's default, that also allows io_uring.

    tools/container/seccomp.py /usr/share/containers/seccomp.json >io_uring.json
    podman run --security-opt seccomp=io_uring.json ...
"""

import json
import sys

if len(sys.argv) != 2:
    sys.exit(__doc__)
with open(sys.argv[1], encoding="utf-8") as file:
    profile = json.load(file)
calls = ["io_uring_enter", "io_uring_register", "io_uring_setup"]
profile["syscalls"].append({"names": calls, "action": "SCMP_ACT_ALLOW"})
json.dump(profile, sys.stdout, indent=1)
print()
