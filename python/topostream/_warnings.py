"""Warnings, at the line of the caller's program."""

from __future__ import annotations

import contextlib
import sys
import warnings
from pathlib import Path

_FOLDER = str(Path(__file__).parent)


def warn(message: str, category: type[Warning]) -> None:
    """Warns at the first line that is neither of this package nor of NetworkX's dispatcher."""
    level, frame = 1, sys._getframe()
    while frame is not None and _is_inner(frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    # `warnings` counts from this function.
    warnings.warn(message, category, stacklevel=level)


def _is_inner(file: str) -> bool:
    is_dispatcher = file.startswith("<class 'networkx.") or "/networkx/utils/" in file
    return file.startswith(_FOLDER) or file == contextlib.__file__ or is_dispatcher
