"""Inputs and outputs of a program, and how a caller's arrays become the former."""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, Optional, Tuple

import numpy as np

from . import _core
from ._errors import InvalidInput

# The numbers of rshift_type in rshift/rshift.h.
_DTYPES: Dict[int, np.dtype[Any]] = {
    1: np.dtype(np.float32), 2: np.dtype(np.float16), 3: np.dtype(np.int8), 4: np.dtype(np.uint8), 5: np.dtype(np.int16),
    6: np.dtype(np.int32), 7: np.dtype(np.int64), 8: np.dtype(np.bool_), 9: np.dtype(np.float64), 11: np.dtype(np.uint16), 12: np.dtype(np.uint32),
    13: np.dtype(np.uint64)}
TYPE_NUMBERS = {'f32': 1, 's8': 3, 'u8': 4, 's16': 5}


@dataclasses.dataclass(frozen=True)
class Tensor:
    """An input or output of a program: real = scale * (integer - zero_point) where there is a scale.

    Of an output whose size depends on the data, `shape` is the most that it can be.
    """

    name: str
    dtype: np.dtype[Any]
    shape: Tuple[int, ...]
    scale: Optional[float]
    zero_point: int

    @property
    def quantized(self) -> bool:
        """Whether its integers stand for real values."""
        return self.scale is not None


def tensor(described: _core.TensorTuple) -> Tensor:
    """From what the extension says of it."""
    name, number, shape, scale, zero_point = described
    return Tensor(name, _DTYPES[number], shape, scale, zero_point)


def exact(info: Tensor, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The same values in the input's type, which holds them unless they are refused; a floating one rounds."""
    converted = np.ascontiguousarray(array, info.dtype)
    if info.dtype.kind != 'f' and not np.array_equal(converted, array):
        raise InvalidInput(f"input '{info.name}': got an array of {array.dtype} with values that its type {info.dtype} does not hold")
    return converted


def feed(session: _core.Session, index: int, info: Tensor, value: Any) -> None:
    """Sets an input.

    An array of the input's own type holds its elements as they are. Floats are real values: a quantized input takes the nearest
    integers of its scale. Integers of another type are real values where the input has no scale, and must fit.
    """
    array = np.asarray(value)
    if array.shape != info.shape:
        hint = '; Program.preprocess makes it of a decoded picture' if array.dtype == np.uint8 and array.ndim == 3 else ''
        raise InvalidInput(f"input '{info.name}': got the shape {list(array.shape)}, expected {list(info.shape)}{hint}")
    if array.dtype == info.dtype:
        session.set_bytes(index, np.ascontiguousarray(array))
        return
    kind = array.dtype.kind
    if kind == 'f' and info.dtype != np.float16:
        session.set_floats(index, np.ascontiguousarray(array, np.float32))
        return
    if kind not in 'fiub' or info.quantized:
        wanted = f'{info.dtype} (its integers) or floats (real values)' if info.quantized else f'{info.dtype}'
        raise InvalidInput(f"input '{info.name}': got an array of {array.dtype}, expected {wanted}")
    session.set_bytes(index, exact(info, array))


def fetch(session: _core.Session, index: int, raw: bool) -> np.ndarray[Any, Any]:
    """An output of the last run in an array of its own: real values of a quantized one unless `raw`."""
    info = tensor(session.output(index))
    if info.quantized and not raw:
        floats = np.empty(info.shape, np.float32)
        session.get_floats(index, floats)
        return floats
    elements = np.empty(info.shape, info.dtype)
    session.get_bytes(index, elements)
    return elements
