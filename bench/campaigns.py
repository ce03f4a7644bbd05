#!/usr/bin/env python3
"""The campaigns of docs/reliability.md, one after another, into JSON: cases, outcomes and time of each.

bench/campaigns.py --seed 20261123 --json bench/results/campaigns.json     all cases, about an hour on two cores
bench/campaigns.py --minutes 30 --json bench/results/campaigns.json        as many cases as 30 minutes allow
TOPOSTREAM_CAMPAIGN_PROGRAM=target/release/topostream bench/campaigns.py --tests target/debug/deps/campaign-…

The tests are built and run by `cargo test --release`, or are those of a built program (--tests). Fails where a case
fails, after the file has been written.
"""

import argparse
import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

COLUMNS = ["campaign", "cases", "outcomes", "seed", "time s"]
ROW = re.compile(r"^\| (.+) \| (\d+) \| (.+) \| (\d+) \| ([\d.]+) s \|$", re.MULTILINE)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, help="of all campaigns together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tests", type=Path, help="a built program of the tests")
    parser.add_argument("--json", type=Path, required=True)
    arguments = parser.parse_args()
    variables = {"SEED": arguments.seed, "STRACE": "required", "MINUTES": arguments.minutes}
    variables = {f"TOPOSTREAM_CAMPAIGN_{name}": str(value) for name, value in variables.items() if value is not None}
    built = ["cargo", "test", "--release", "--test", "campaign", "--"]
    tests = [arguments.tests.absolute()] if arguments.tests else built
    command = [*tests, "--ignored", "--test-threads", "1"]
    done = subprocess.run(command, env=os.environ | variables, stderr=subprocess.PIPE, text=True)
    sys.stderr.write(done.stderr)
    rows = [list(found) for found in ROW.findall(done.stderr)]
    outcome = {
        "name": "campaigns",
        "expectation": "no case fails",
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "command": " ".join(["bench/campaigns.py", *(Path(word).name for word in sys.argv[1:])]),
        "verified": ["every case: the outcome is one of those that docs/reliability.md calls correct"],
        "notes": [],
        "tables": [{"title": "Campaigns", "columns": COLUMNS, "rows": rows}],
        "claims": [],
    }
    arguments.json.write_text(json.dumps(outcome, indent=2) + "\n")
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
