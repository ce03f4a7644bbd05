"""Some of NetworkX's own tests over the backend. `.ci/slow` has all of those that reach it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import networkx_suite
from topostream.networkx import _mapped

HERE = Path(__file__).parent


def test_networkx_passes_its_own_tests(tmp_path: Path) -> None:
    counts = tmp_path / "counts.json"
    parts = ["link_analysis", "components", "tests.test_core", "tests.test_dag"]
    arguments = ["-q", "-p", "networkx_suite", "--networkx-counts", str(counts), "--pyargs"]
    suite = [sys.executable, "-m", "pytest", *arguments, *(f"networkx.algorithms.{part}" for part in parts)]
    done = subprocess.run(suite, cwd=HERE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    found = json.loads(counts.read_text())
    assert len(found["functions"]) > 20
    kept = json.loads((HERE / "networkx-3.6.1.json").read_text())
    if found["networkx"] != kept["networkx"]:
        pytest.skip(f"counts of NetworkX {found['networkx']} are not kept: the tests have passed")
    # These are part of the suites whose counts are kept.
    for name, count in found["functions"].items():
        assert 0 < count["passed"] <= kept["functions"][name]["passed"], name
    for name in ("pagerank", "hits", "core_number", "k_core", "descendants", "number_attracting_components"):
        assert found["functions"][name] == kept["functions"][name], name


def test_the_table_of_the_docs_has_the_counts_that_are_kept() -> None:
    """`.ci/slow` compares the files with what passes."""
    table = networkx_suite.table([str(HERE / f"networkx-{version}.json") for version in ("3.4.2", "3.6.1")])
    assert f"\n{table}\n" in (HERE.parents[1] / "docs" / "networkx.md").read_text()
    # NetworkX leaves its tests of leiden_communities out unless it is configured for a backend.
    kept = json.loads((HERE / "networkx-3.6.1.json").read_text())["functions"]
    assert set(_mapped.FUNCTIONS) == {*kept, "leiden_communities"}
