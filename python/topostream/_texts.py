"""Texts of the program in the words of Python: options of its command line as keyword arguments."""

from __future__ import annotations

import functools
import json
import re

from . import _native

# What a user has written stands in double quotes, and stays as it is.
_QUOTED = re.compile(r'("(?:[^"\\\n]|\\.)*")')
# Clap's names of arguments: '--damping <DAMPING>', and lists of such lines.
_ARGUMENT = re.compile(r"(?P<quote>'?)--(?P<name>[a-z][a-z0-9-]*)(?:[= ]<[^<>\n]+>)(?:\.\.\.)?(?P=quote)")
_TIP = re.compile(r"\s*tip: to pass '--[^\n]*' as a value, use '-- --[^\n]*'")
_QUOTED_OPTION = re.compile(r"'--(?P<name>[a-z][a-z0-9-]*)'")
_OPTION = re.compile(
    r"(?<![^\s(`,])(?P<tick>`?)--(?P<name>[a-z][a-z0-9-]*)(?:[= ](?P<value>\w(?:[\w.,:+-]*\w)?))?(?P=tick)"
)
_VALUE = re.compile(r"[\d.,]+|\d+[KMGT]i?B|[iuf](?:32|64)")
_WORDS = {"auto", "csv", "cpu", "double", "ignore", "none", "space", "tab", "text"}
# Settings have one option on the command line: '--tune fetcher=threads' stands for '--fetcher=threads'.
_SETTING = re.compile(r"--tune (?P<name>[a-z][a-z0-9-]*)")
_ADJACENT = re.compile(r"=True (?=[a-z_]+=True)")
# Arguments with other names than their options.
_RENAMED = {"ego": "vertex", "output-format": "format"}
_COMMAND = re.compile(r"`topostream (?P<name>[a-z]+)`")
_FUNCTIONS = {
    "calibrate": "topostream.calibrate()",
    "devices": "topostream.devices()",
    "format": "topostream.format()",
    "info": "graph.info()",
    "reformat": "graph.reformat()",
    "verify": "graph.verify()",
}
_REFORMAT = re.compile(r"`topostream reformat \S+ (?P<store>[^\s`]+) (?P<options>[^`]+)`")


@functools.cache
def _options() -> dict[str, tuple[str, frozenset[str]]]:
    """The type and the choices of every option that is a keyword argument here."""
    catalogue = json.loads(_native.catalogue())
    commands = [*catalogue["algorithms"], *catalogue["commands"]]
    commands += [kind for command in catalogue["commands"] for kind in command["subcommands"]]
    lists = [catalogue["session"], catalogue["layout"], *(command["options"] for command in commands)]
    options = [option for of in lists for option in of if option["long"]]
    return {
        option["long"]: (option["type"], frozenset(choice["name"] for choice in option["choices"]))
        for option in options
    }


def name_of(option: str) -> str:
    """An option's name as an argument's."""
    name = _RENAMED.get(option, option).replace("-", "_")
    return name + "_" if name in ("from", "in", "with") else name


def in_python(text: str) -> str:
    """A text of the program with its options as keyword arguments, and its commands as functions: ``--names`` is
    ``names=True``, ``topostream format`` is ``topostream.format()``."""
    parts = _QUOTED.split(text)
    if "--" in text:
        parts[::2] = [_ADJACENT.sub("=True, ", _OPTION.sub(_argument, _clap(part))) for part in parts[::2]]
    joined = _REFORMAT.sub(r'`graph.reformat("\g<store>", \g<options>)`', "".join(parts))
    return _COMMAND.sub(lambda found: f"`{_FUNCTIONS.get(found['name'], found[0][1:-1])}`", joined)


def _clap(text: str) -> str:
    text = _SETTING.sub(lambda found: f"--{found['name']}" if found["name"] in _options() else found[0], text)
    text = _TIP.sub("", text)
    text = _ARGUMENT.sub(lambda found: found["quote"] + name_of(found["name"]) + found["quote"], text)
    return _QUOTED_OPTION.sub(lambda found: f"'{name_of(found['name'])}'", text)


def _argument(found: re.Match[str]) -> str:
    known = _options().get(found["name"])
    if known is None:
        # An option of the program alone.
        return found[0]
    of, choices = known
    name, tick, value = name_of(found["name"]), found["tick"], found["value"]
    if of == "flag":
        rest = "" if value is None else f" {value}"
        return f"{tick}{name}=True{rest}{tick}"
    if value is None:
        return f"{tick}{name}{tick}"
    if value in choices or value in _WORDS or _VALUE.fullmatch(value):
        quoted = value if of in ("integer", "number") else f'"{value}"'
        return f"{tick}{name}={quoted}{tick}"
    return f"{tick}{name} {value}{tick}"
