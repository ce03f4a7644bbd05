"""Some of NetworkX's own tests over the backend. `.ci/slow` has all of those that reach it."""

import json
import subprocess
import sys
from pathlib import Path

import networkx_suite


def test_networkx_passes_its_own_tests(tmp_path: Path) -> None:
    counts = tmp_path / "counts.json"
    parts = ["link_analysis", "components", "tests.test_core", "tests.test_dag"]
    arguments = ["-q", "-p", "networkx_suite", "--networkx-counts", str(counts), "--pyargs"]
    suite = [sys.executable, "-m", "pytest", *arguments, *(f"networkx.algorithms.{part}" for part in parts)]
    found = subprocess.run(suite, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout[-3000:]
    passed = {name: count["passed"] for name, count in json.loads(counts.read_text())["functions"].items()}
    for name in ("pagerank", "hits", "connected_components", "strongly_connected_components", "core_number"):
        assert passed[name] > 0, passed
    assert "| `pagerank` |" in networkx_suite.table([str(counts)])
