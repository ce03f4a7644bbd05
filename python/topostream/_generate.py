"""Writes ``_algorithms.py`` and ``_arguments.py`` from the catalogue: ``python -m topostream._generate``."""

import json
import keyword
import re
import sys
import tempfile
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import _native
from .errors import ParameterError
from .graph import from_edges

HEADER = '''"""The algorithms of the catalogue as methods. Written by ``python -m topostream._generate``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from ._options import Vertex
from ._progress import Watcher

if TYPE_CHECKING:
    from .result import Result


class Algorithms:
    """Every algorithm of the catalogue. Vertices are named by their original ids, or by ``"max-degree"``."""

    def _run(self, algorithm: str, given: dict[str, Any]) -> Result:
        """Runs an algorithm with the local variables of its method."""
        raise NotImplementedError
'''

ARGUMENTS = '''"""The options of commands as types of keyword arguments.

Written by ``python -m topostream._generate``.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Literal, TypedDict
'''

# Checks and lists of edges: in Python, NumPy does both. Parts of stores: for runs on several machines.
LEFT_OUT = {"validate", "levels", "edges_file", "part"}
# What functions take as parameters of their own.
OWN = {"inputs", "store", "new_store", "all", "ego", "hops", "direction", "output", "output_format", *LEFT_OUT}
# Text that may be a number.
NUMBERS_TOO = {"ids", "devices"}
WIDTH = 120
TYPES = {"integer": "int", "number": "float", "path": "str | PathLike[str]", "vertex": "Vertex", "text": "str"}


def name_of(option: dict[str, Any]) -> str:
    name = str(option["long"] or option["short"]).replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


def default_of(option: dict[str, Any]) -> Any:
    if option["type"] == "flag":
        return False
    if not option["defaults"] or option["several"]:
        return None
    [default] = option["defaults"]
    convert = {"integer": int, "number": float}.get(option["type"], str)
    return convert(default)


def has_values(option: dict[str, Any]) -> bool:
    """Whether the option gives vertices a value each."""
    return "=" in str(option["value_name"])


def type_of(option: dict[str, Any]) -> str:
    if option["type"] == "flag":
        return "bool"
    one = TYPES[option["type"]]
    if option["choices"]:
        one = "Literal[" + ", ".join(json.dumps(choice["name"]) for choice in option["choices"]) + "]"
    if option["several"]:
        one = f"{one} | Sequence[{one}]"
    if has_values(option):
        one = f"Mapping[Vertex, float] | {one}"
    return one if option["required"] or default_of(option) is not None else f"{one} | None"


def option_type(option: dict[str, Any]) -> str:
    """The type of an option that is only given where it is wanted."""
    if option["value_name"] == "SIZE":
        return "int | str"
    if option["id"] in NUMBERS_TOO:
        return "str | int | Sequence[str | int]" if option["several"] else "str | int"
    return type_of({**option, "required": True})


def paragraphs(text: str, indent: str) -> str:
    return filled(text, indent, indent)


def filled(text: str, first: str, others: str) -> str:
    return textwrap.fill(in_python(text), WIDTH, initial_indent=first, subsequent_indent=others, break_on_hyphens=False)


def in_python(text: str) -> str:
    """A text about the command line as one about keyword arguments."""
    text = " ".join(text.split()).replace("; may be given several times", "; one or several")
    text = re.sub(r"; may be repeated(?=[:.]|$)", "; one or several", text)
    text = re.sub(r"`--([a-z]+) ([a-z-]+)`", r'`\1="\2"`', text)
    text = re.sub(r"`?--([a-z][a-z-]*)`?", lambda found: f"`{found[1].replace('-', '_')}`", text)
    return re.sub(r"`+", "``", text)


def begun(text: str) -> str:
    """A text without a capital letter at its beginning, unless it begins with a name."""
    return text[:1].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text


def literal(value: Any) -> str:
    return json.dumps(value) if isinstance(value, str) else repr(value)


def described(option: dict[str, Any]) -> str:
    help_text = (option["help"] or "").rstrip(".")
    if option["choices"]:
        named = [choice_of(choice) for choice in option["choices"]]
        help_text += ": " + "; ".join(named)
    if has_values(option):
        help_text += "; or a dictionary of vertices and values"
    text = f"{name_of(option)}: {begun(help_text)}."
    return filled(text, " " * 12, " " * 16)


def choice_of(choice: dict[str, Any]) -> str:
    help_text = begun(choice["help"] or "")
    return f'`"{choice["name"]}"`' + (f": {help_text}" if help_text else "")


KINDS = {"number": "float64", "integer": "int64", "vertex": "ids"}


class Samples:
    """Runs over small graphs, which show what columns results have."""

    def __init__(self) -> None:
        ends = np.array([0, 1, 2, 2]), np.array([1, 2, 0, 3])
        small: dict[str, Any] = {"memory": "256MiB", "device": "cpu", "threads": 1}
        self._folder = tempfile.TemporaryDirectory()
        self._file = Path(self._folder.name) / "vertices.txt"
        self._file.write_text("0\n")
        self._sessions = [
            from_edges((*ends, np.ones(4, of)), in_edges=True, symmetrize=symmetrize).session(**small)
            for symmetrize in (False, True)
            for of in (np.uint32, np.float32)
        ]

    def returned(self, entry: dict[str, Any]) -> str:
        """The columns of a result: their names, the types of their values, the options that add them."""
        required = {name_of(option): self._value(option) for option in entry["options"] if option["required"]}
        flags = [name_of(option) for option in entry["options"] if option["type"] == "flag"]
        found: dict[str, list[str]] = {}
        for session in self._sessions:
            for flag in ("", *(flag for flag in flags if flag not in LEFT_OUT)):
                try:
                    given = {**required, **({flag: True} if flag else {})}
                    native = session._run_quietly(entry["name"], False, given)
                except ParameterError:
                    # For other graphs: undirected ones, or directed ones.
                    continue
                for column, kind in native._kinds.items():
                    suffix = f" with ``{flag}``" if flag else ""
                    texts = found.setdefault(column, [suffix])
                    texts[1:] = dict.fromkeys([*texts[1:], KINDS[kind]])
        columns = (f"``{name}`` ({' or '.join(kinds)}){suffix}" for name, (suffix, *kinds) in found.items())
        return ", ".join(columns)

    def _value(self, option: dict[str, Any]) -> Any:
        if option["type"] == "path":
            return self._file
        return "0=1" if has_values(option) else 1 if option["type"] == "integer" else 0


def method(entry: dict[str, Any], returned: str) -> str:
    options = [option for option in entry["options"] if option["id"] not in LEFT_OUT]
    required = [option for option in options if option["required"]]
    others = [option for option in options if not option["required"]]
    parameters = ["self", *(f"{name_of(option)}: {type_of(option)}" for option in required), "*"]
    parameters += [f"{name_of(option)}: {type_of(option)} = {literal(default_of(option))}" for option in others]
    parameters.append("progress: bool | Watcher = False")
    name = entry["name"].replace("-", "_")
    lines = ["", f"    def {name}("]
    lines += [f"        {parameter}," for parameter in parameters]
    lines.append("    ) -> Result:")
    lines.append(paragraphs(f'"""{entry["about"]}.', " " * 8))
    if entry["details"]:
        lines += ["", paragraphs(entry["details"], " " * 8)]
    lines += ["", paragraphs(f"Source: {entry['source']}. Exactness: {entry['exactness']}.", " " * 8)]
    lines += ["", "        Args:"]
    lines += [described(option) for option in [*required, *others]]
    lines.append("            progress: show a bar; or a function that is called some times a second.")
    lines += ["", "        Returns:", filled(f"For each vertex {returned}.", " " * 12, " " * 12)]
    lines += ["", "        Raises:"]
    lines.append("            ParameterError: an argument is not valid, or the graph lacks what the algorithm needs.")
    lines.append("            BudgetError: the run does not fit in the session's memory.")
    lines.append('        """')
    lines.append(f'        return self._run("{entry["name"]}", locals())')
    return "\n".join(lines) + "\n"


def options_class(name: str, base: str, about: str, options: list[dict[str, Any]]) -> str:
    lines, members = ["", ""], []
    for option in options:
        of = option_type(option)
        if len(of) > WIDTH - 40:
            alias = name_of(option).capitalize()
            choices = [f"    {json.dumps(choice['name'])}," for choice in option["choices"]]
            lines += [f"{alias} = Literal[", *choices, "]", "", ""]
            of = f"{alias} | Sequence[{alias}]" if option["several"] else alias
        members.append(f"    {name_of(option)}: {of}")
    lines += [f"class {name}({base}, total=False):", f'    """{about}', ""]
    lines += [textwrap.indent(textwrap.dedent(described(option)), "    ") for option in options]
    return "\n".join([*lines, '    """', "", *members]) + "\n"


def arguments(catalogue: dict[str, Any]) -> str:
    """The types of the options of sessions and commands."""
    layout = {option["id"] for option in catalogue["layout"]}
    of_stores = [option for option in catalogue["layout"] if option["id"] not in LEFT_OUT]
    commands = {command["name"]: command for command in catalogue["commands"]}
    kinds = {kind["name"]: kind for kind in commands["generate"]["subcommands"]}

    def own(command: dict[str, Any], taken: Sequence[str] = ()) -> list[dict[str, Any]]:
        left_out = {*layout, *OWN, *taken}
        return [option for option in command["options"] if option["id"] not in left_out]

    of_components = {"labels", "thresholds", "top", "json", "symmetrize", *OWN}
    components = [option for option in commands["components"]["options"] if option["id"] not in of_components]
    classes = [
        ("SessionOptions", "TypedDict", "Options of sessions.", catalogue["session"]),
        ("StoreOptions", "TypedDict", "Options of every function that makes a store.", of_stores),
        ("FormatOptions", "StoreOptions", "Options of the input.", own(commands["format"])),
        ("ComponentsOptions", "TypedDict", "Options of components of edges.", components),
        ("RmatOptions", "StoreOptions", "Options of R-MAT graphs.", own(kinds["rmat"], ["scale"])),
        ("UniformOptions", "StoreOptions", "Options of uniform graphs.", own(kinds["uniform"], ["vertices", "edges"])),
        ("GridOptions", "StoreOptions", "Options of grids.", own(kinds["grid"], ["width", "height"])),
        ("ExtractOptions", "StoreOptions", "Options of parts of graphs.", own(commands["extract"], ["vertices"])),
        ("ReformatOptions", "StoreOptions", "Options of copies.", own(commands["reformat"])),
    ]
    # One line stands between imports and what is no class.
    listed = "".join(options_class(*of) for of in classes)
    return ARGUMENTS + (listed if listed.startswith("\n\nclass") else listed[1:])


def texts() -> dict[str, str]:
    """The texts of the modules by their names."""
    catalogue = json.loads(_native.catalogue())
    samples = Samples()
    methods = "".join(method(entry, samples.returned(entry)) for entry in catalogue["algorithms"])
    return {"_algorithms.py": HEADER + methods, "_arguments.py": arguments(catalogue)}


if __name__ == "__main__":
    for module, text in texts().items():
        path = Path(__file__).with_name(module)
        path.write_text(text)
        sys.stdout.write(f"{path}\n")
