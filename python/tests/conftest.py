"""What the tests share: small graphs, and sessions in little memory on the CPU."""

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import topostream as ts

SMALL: dict[str, Any] = {"memory": "512MiB", "device": "cpu"}


def random_edges(vertices: int, edges: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Edges with ids that are neither consecutive nor small."""
    random = np.random.default_rng(seed)
    ids = np.sort(random.choice(10**12, vertices, replace=False))
    return ids[random.integers(vertices, size=edges)], ids[random.integers(vertices, size=edges)]


@pytest.fixture(scope="session")
def edges() -> tuple[np.ndarray, np.ndarray]:
    return random_edges(300, 2000)


@pytest.fixture(scope="session")
def graph(edges: tuple[np.ndarray, np.ndarray], tmp_path_factory: pytest.TempPathFactory) -> ts.Graph:
    """A directed graph with in-lists, without repeated edges."""
    store = tmp_path_factory.mktemp("stores") / "random"
    return ts.from_edges(edges, store, in_edges=True, remove_duplicates=True)


@pytest.fixture(scope="session")
def reference(edges: tuple[np.ndarray, np.ndarray]) -> nx.DiGraph:
    found = nx.DiGraph()
    found.add_edges_from(zip(edges[0].tolist(), edges[1].tolist(), strict=True))
    return found


@pytest.fixture
def wide(tmp_path: Path) -> ts.Graph:
    """A graph on which many iterations take long."""
    return ts.generate_rmat(16, tmp_path / "wide", seed=3)
