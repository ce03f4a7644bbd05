"""The command ``topostream``: the program, with all of its commands. ``python -m topostream`` is the same."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from . import _native


def main() -> NoReturn:
    """Runs the program with the words of the command line, and ends the process with its exit code."""
    code = _native.main(sys.argv[1:])
    # As the program itself ends: exit handlers of GPUs' drivers have nothing to do for it.
    os._exit(code)


if __name__ == "__main__":
    main()
