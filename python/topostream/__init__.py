"""Graph algorithms over graphs that are larger than memory, from disk, on one machine.

>>> import topostream as ts
>>> g = ts.from_edges(([30, 30, 3352, 1412], [1412, 3352, 1412, 30]))
>>> with g.session(memory="256MiB", device="cpu") as s:
...     ranks = s.pagerank(iterations=10)
>>> ranks.top(1)[0][0]
1412

A :class:`Graph` is a store on disk, a :class:`Session` is what runs algorithms over it, a :class:`Result` has a value
for each vertex. All texts of errors are those of the program ``topostream``; options are its options.
"""

from ._components import components
from ._native import __version__
from .errors import (
    BudgetError,
    ColumnError,
    ConvergenceWarning,
    DependencyError,
    DeviceError,
    FallbackWarning,
    FileError,
    ForkError,
    HintWarning,
    InputError,
    ParameterError,
    SessionError,
    StoreError,
    TopostreamError,
    TopostreamWarning,
)
from .graph import (
    EdgeCount,
    Graph,
    calibrate,
    devices,
    format,
    from_edges,
    generate_grid,
    generate_rmat,
    generate_uniform,
    open,
)
from .report import Report
from .result import Path, Result
from .session import Session

__all__ = [
    "BudgetError",
    "ColumnError",
    "ConvergenceWarning",
    "DependencyError",
    "DeviceError",
    "EdgeCount",
    "FallbackWarning",
    "FileError",
    "ForkError",
    "Graph",
    "HintWarning",
    "InputError",
    "ParameterError",
    "Path",
    "Report",
    "Result",
    "Session",
    "SessionError",
    "StoreError",
    "TopostreamError",
    "TopostreamWarning",
    "__version__",
    "calibrate",
    "components",
    "devices",
    "format",
    "from_edges",
    "generate_grid",
    "generate_rmat",
    "generate_uniform",
    "open",
]
