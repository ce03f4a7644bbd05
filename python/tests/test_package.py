"""The package itself: generated text, types, documentation."""

import doctest
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import topostream
from topostream import _generate

FOLDER = Path(topostream.__file__).parent


def test_methods_and_options_are_those_of_the_catalogue() -> None:
    for module, text in _generate.texts().items():
        assert (FOLDER / module).read_text() == text, f"{module}: run python -m topostream._generate"


@pytest.mark.parametrize("command", [["check"], ["format", "--check"]], ids=" ".join)
def test_python_is_in_good_style(command: list[str]) -> None:
    python = Path(__file__).parents[1]
    folders = ["--config", python / "pyproject.toml", python, python.parent / "bench"]
    checked = subprocess.run(
        [sys.executable, "-m", "ruff", *command, *folders], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_types_are_complete() -> None:
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "-p", "topostream"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout
    checked = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "topostream._native"], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout


def test_examples_in_docstrings() -> None:
    for name in ("topostream", "topostream.graph", "topostream.result", "topostream.session"):
        failed, _ = doctest.testmod(importlib.import_module(name))
        assert failed == 0, name


def test_all_that_is_public_is_documented() -> None:
    for name in topostream.__all__:
        found = getattr(topostream, name)
        assert name == "__version__" or found.__doc__, name
        if isinstance(found, type):
            members = [member for member in vars(found) if not member.startswith("_")]
            assert all(getattr(found, member).__doc__ for member in members), name
