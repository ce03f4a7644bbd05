"""NetworkX's own tests over the backend, with the calls of each mapped function counted.

    pytest -p networkx_suite --networkx-counts counts.json --pyargs networkx
    python networkx_suite.py counts.json

A test counts for every mapped function that the backend ran in it. Everything else falls back to NetworkX.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

os.environ.setdefault("NETWORKX_TEST_BACKEND", "topostream")
os.environ.setdefault("NETWORKX_FALLBACK_TO_NX", "1")

_ran: set[str] = set()
_counts: dict[str, Counter[str]] = {}


def pytest_addoption(parser: Any) -> None:
    parser.addoption("--networkx-counts", metavar="FILE", help="write the tests passed and failed of each function")


def pytest_configure(config: Any) -> None:
    import networkx as nx

    from topostream import networkx as backend

    nx.config.backends.topostream.memory = "256MiB"
    nx.config.backends.topostream.device = "cpu"
    for name, function in backend.FUNCTIONS.items():

        def call(*args: Any, _name: str = name, _function: Any = function, **kwargs: Any) -> Any:
            _ran.add(_name)
            return _function(*args, **kwargs)

        setattr(backend, name, call)


def pytest_runtest_setup(item: Any) -> None:
    _ran.clear()


def pytest_runtest_logreport(report: Any) -> None:
    if report.when == "call":
        for name in _ran:
            _counts.setdefault(name, Counter())[report.outcome] += 1


def pytest_sessionfinish(session: Any) -> None:
    import networkx as nx

    target = session.config.getoption("--networkx-counts")
    if target:
        found = {"networkx": nx.__version__, "functions": dict(sorted(_counts.items()))}
        Path(target).write_text(json.dumps(found, indent=1) + "\n")


def table(files: list[str]) -> str:
    """The counts of some versions as a table of Markdown: passed of those that the backend ran in."""
    versions = [json.loads(Path(file).read_text()) for file in files]
    names = sorted({name for version in versions for name in version["functions"]})
    heads = [version["networkx"] for version in versions]
    lines = [f"| function | {' | '.join(heads)} |", "| --- |" + " --- |" * len(heads)]
    for name in names:
        counts = [version["functions"].get(name, {}) for version in versions]
        cells = [f"{one.get('passed', 0)} of {sum(one.values())}" if one else "-" for one in counts]
        lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(sys.argv[1:]))
