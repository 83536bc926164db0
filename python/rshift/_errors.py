"""What fails, as exceptions: each has the one line that the tools print, and is what Python calls such a failure."""

from __future__ import annotations


class Error(RuntimeError):
    """Whatever Rshift refuses or cannot do; the text says what, where, what was expected and how to mend it."""


class InvalidInput(Error, ValueError):
    """An argument, a model, a file or a value is wrong."""


class Unsupported(Error, NotImplementedError):
    """Well formed, but not something that this version, this CPU or a limit allows."""


class IoError(Error, OSError):
    """The operating system refused."""


class Corrupt(Error, ValueError):
    """A program file fails its checks."""


class InternalError(Error):
    """A bug in Rshift."""


class OutOfMemory(Error, MemoryError):
    """There is not enough memory."""


class Interrupted(Error):
    """The caller's own wish to end."""


# The numbers of rshift_status in rshift/rshift.h.
_CLASSES = {1: InvalidInput, 2: Unsupported, 3: IoError, 4: Corrupt, 5: InternalError, 6: OutOfMemory, 7: Interrupted}


def make(status: int, text: str) -> Error:
    """The exception for a status of the C interface."""
    return _CLASSES.get(status, InternalError)(text)
