"""The package itself: generated text, types, documentation."""

import doctest
import importlib
import importlib.metadata
import json
import signal
import subprocess
import sys
import time
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


def test_the_package_has_the_command_and_its_licences() -> None:
    """The command is the program: its help, its exit codes, its texts."""
    found = importlib.metadata.distribution("topostream")
    [command] = [entry for entry in found.entry_points if entry.group == "console_scripts"]
    assert command.name == "topostream" and command.value == "topostream.__main__:main"
    licences = [str(file) for file in found.files or () if "LICENSE" in str(file)]
    assert {Path(licence).name for licence in licences} == {"LICENSE-MIT", "LICENSE-APACHE"}

    def ran(*words: str) -> tuple[int, str, str]:
        done = subprocess.run([sys.executable, "-m", "topostream", *words], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    code, shown, _ = ran("--version")
    assert code == 0 and shown.splitlines()[0] == f"topostream {topostream.__version__}"
    code, shown, _ = ran("devices", "--json")
    assert code == 0 and json.loads(shown)["cpu"]["threads"] > 0
    code, shown, said = ran("info", "/no/such/store")
    assert (code, shown) == (1, "") and "error: /no/such/store: not a graph store" in said
    assert ran("run", "no-such-algorithm")[0] == 2


def test_ctrl_c_ends_the_command(tmp_path: Path) -> None:
    words = ["generate", "rmat", "--scale", "24", "--memory", "512MiB", "--store", str(tmp_path / "store")]
    # A background job of a shell ignores Ctrl-C, and its children do.
    default = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    process = subprocess.Popen(
        [sys.executable, "-m", "topostream", *words], stderr=subprocess.PIPE, text=True, preexec_fn=default
    )
    for _ in range(3000):
        if (tmp_path / "store").exists():
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130 and "interrupted: stopped cleanly" in said
    assert list(tmp_path.iterdir()) == []


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
