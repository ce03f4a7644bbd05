"""The notebooks run from their first cell to the last one, and once more in the same folder."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[1] / "examples").glob("*.ipynb"))
WRITTEN = {"cells": "cells.csv", "ranking": "ranks.parquet"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path: Path, tmp_path: Path) -> None:
    for _ in ("once", "again"):
        notebook = nbformat.read(path, as_version=4)
        assert not any(cell.get("outputs") for cell in notebook.cells), "kept without outputs"
        client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}})
        client.execute()
    kinds = {kind for cell in notebook.cells for output in cell.get("outputs", []) for kind in output.get("data", {})}
    assert {"text/html", "image/png"} <= kinds, "tables and a plot are shown"
    assert (tmp_path / WRITTEN[path.stem]).is_file()


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS
