"""Exceptions. Their texts are those of the program: they name the file, the line or the page, what was expected and
what was found."""


class TopostreamError(Exception):
    """The base of all exceptions of this package."""


class StoreError(TopostreamError):
    """A store is damaged, incomplete, or of another version of the format."""


class InputError(TopostreamError, ValueError):
    """The input of a store is not valid: a line of a file, a row of a table, an array of a wrong type."""


class FileError(TopostreamError, OSError):
    """The system refuses an operation on a file."""


class ParameterError(TopostreamError, ValueError):
    """An option is not valid, or an algorithm cannot run on this graph."""


class BudgetError(TopostreamError, MemoryError):
    """The memory that was granted does not suffice. The text says how much is needed, and for what."""


class DeviceError(TopostreamError, RuntimeError):
    """A device does not exist, has failed, or has too little memory."""
