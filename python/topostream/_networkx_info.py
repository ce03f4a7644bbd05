"""What NetworkX reads of the backend when it is imported."""

from __future__ import annotations

from typing import Any


def info() -> dict[str, Any]:
    """The backend's names and its configuration: ``nx.config.backends.topostream``.

    memory: main memory of a run, as ``"2GiB"`` [default: half of what is available]; device: as for sessions [default:
    a GPU if there is one]; folder: where converted graphs are kept [default: the system's temporary
    folder]; min_edges: the size from which NetworkX chooses the backend by itself.
    """
    return {
        "backend_name": "topostream",
        "project": "topostream",
        "package": "topostream",
        "short_summary": "Graphs larger than memory, from disk, on GPUs and CPUs",
        "default_config": {"memory": None, "device": None, "folder": None, "min_edges": 100_000},
    }
