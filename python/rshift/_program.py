"""Programs and sessions: what runs a .rshift file on NumPy arrays."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, List, Mapping, Optional, Sequence, Tuple, Union, overload

import numpy as np

from . import _core
from ._errors import InvalidInput, Unsupported
from ._tensor import Tensor, exact, feed, fetch, tensor

if TYPE_CHECKING:
    from ._toolchain import Deployment

Array = np.ndarray[Any, Any]
# The numbers of rshift_pixel_order in rshift/preprocess.h, and the bytes of a pixel.
_ORDERS = {'GRAY': (1, 1), 'RGB': (2, 3), 'BGR': (3, 3), 'RGBA': (4, 4), 'BGRA': (5, 4)}
Source = Union[str, 'os.PathLike[str]', bytes, bytearray, memoryview, 'Deployment']


def _open(source: Source, limits: str) -> _core.Program:
    if isinstance(source, (str, os.PathLike)):
        return _core.Program.load(os.fsencode(source), limits)
    return _core.Program.from_memory(getattr(source, 'program', source), limits)


class Program:
    """A .rshift program: a file, its content, or what `deploy` gave.

    >>> program = rshift.Program('net.rshift')
    >>> scores, = program.run(image)

    It is read only: any number of threads may call `run` at once, which computes without the GIL.

    source: a path, the bytes of a program file, or a Deployment. A file is mapped: nobody may shorten it meanwhile.
    threads: the most that one run uses; 0: OMP_NUM_THREADS, else as many as the CPU has. The bytes of the outputs are the same for every number.
    limits: what one run may take, as 'seconds=600,arena=64G' or 'none'; '' for the defaults (about a minute, 16 GB).
    """

    def __init__(self, source: Source, *, threads: int = 0, limits: str = '') -> None:
        self._program = _open(source, limits)
        self._threads = threads
        self._inputs = tuple(map(tensor, self._program.inputs()))
        self._outputs = tuple(map(tensor, self._program.outputs()))
        self._idle: List[_core.Session] = []  # taken and put back by single operations of the list, which no thread interrupts

    @property
    def inputs(self) -> Tuple[Tensor, ...]:
        """What `run` takes, in this order."""
        return self._inputs

    @property
    def outputs(self) -> Tuple[Tensor, ...]:
        """What `run` gives, in this order."""
        return self._outputs

    def metadata(self, key: str) -> Optional[str]:
        """A text that was recorded when the program was made ('model', 'mode', 'preprocess', ...), or None."""
        return self._program.metadata(key)

    def session(self, *, threads: Optional[int] = None) -> Session:
        """A session of its own, for callers who write inputs in place and read outputs in place."""
        return Session(self, threads=self._threads if threads is None else threads)

    def samples(self, dataset: Union[str, 'os.PathLike[str]'], *, preprocess: Union[None, str, 'os.PathLike[str]'] = None) -> Samples:
        """Pictures and arrays as the program takes them, by the preprocessing it has recorded: what model_runner feeds.

        >>> for sample in program.samples('photos/'):
        ...     scores, = program.run(*sample)

        dataset: a picture, a folder, a list, .npy, .npz, idx. preprocess: another file or preset.
        """
        return Samples(self, dataset, preprocess)

    def preprocess(self, *pictures: Any, order: str = 'RGB', index: int = 0) -> Array:
        """Decoded pictures as an input takes them, by the preprocessing that the program has recorded.

        >>> image = cv2.imread('photo.jpg')                   # or numpy.asarray(PIL.Image.open('photo.jpg'))
        >>> scores, = program.run(program.preprocess(image, order='BGR'))

        pictures: uint8 arrays [height, width, channels], or [height, width] for gray; as many as the batch of the input.
        order: of the channels: 'GRAY', 'RGB', 'BGR', 'RGBA', 'BGRA'. index: which input.
        """
        info = Session._info(self._inputs, index, 'input')
        if order not in _ORDERS:
            raise InvalidInput(f"order is '{order}', expected {', '.join(_ORDERS)}")
        number, channels = _ORDERS[order]
        arrays = [np.asarray(picture) for picture in pictures]
        for array in arrays:
            if array.dtype != np.uint8 or array.ndim not in (2, 3) or (array.shape[2] if array.ndim == 3 else 1) != channels:
                raise InvalidInput(f"a picture is {array.dtype}{list(array.shape)}, expected uint8[height, width, {channels}] for order '{order}'")
        values = np.empty(info.shape, np.float32)
        _core.preprocess(self._program, index, [np.ascontiguousarray(array) for array in arrays], number, values)
        if info.quantized and info.dtype.itemsize == 2:  # bytes are the pixels themselves, 16 bits have a scale
            ends = np.iinfo(info.dtype)
            values = np.clip(np.rint(values / np.float32(info.scale)) + info.zero_point, ends.min, ends.max)
        return exact(info, values)

    def run(self, *arrays: Any, raw: bool = False) -> List[Array]:
        """Runs the program once; gives its outputs, in order.

        arrays: one for each input, in order, or one mapping from names to arrays. An array of the input's own type holds its elements
            as they are; floats are real values, of which a quantized input takes the nearest integers.
        raw: quantized outputs as their integers; else as real values in float32.
        """
        ordered = self._ordered(arrays)
        try:
            session = self._idle.pop()
        except IndexError:
            session = _core.Session(self._program, self._threads)
        try:
            for index, (info, value) in enumerate(zip(self._inputs, ordered)):
                feed(session, index, info, value)
            session.run()
            return [fetch(session, index, raw) for index in range(len(self._outputs))]
        finally:
            self._idle.append(session)

    def _ordered(self, arrays: Sequence[Any]) -> Sequence[Any]:
        names = [info.name for info in self._inputs]
        if len(arrays) == 1 and isinstance(arrays[0], Mapping):
            given: Mapping[str, Any] = arrays[0]
            for name in given:
                if name not in names:
                    raise InvalidInput(f"input '{name}': the program has no such input, expected {', '.join(names)}")
            for name in names:
                if name not in given:
                    raise InvalidInput(f"input '{name}': no array is given for it")
            return [given[name] for name in names]
        if len(arrays) != len(names):
            raise InvalidInput(f"got {len(arrays)} arrays, expected {len(names)}, for {', '.join(names)}")
        return arrays

    def __repr__(self) -> str:
        described = [', '.join(f'{t.name} {t.dtype}{list(t.shape)}' for t in part) for part in (self._inputs, self._outputs)]
        return f'<rshift.Program {described[0]} -> {described[1]}>'


class Samples(Sequence[List[Array]]):
    """The samples of a data set, read one at a time: each a list with an array for every input of the program."""

    def __init__(self, program: Program, dataset: Union[str, 'os.PathLike[str]'],
                 preprocess: Union[None, str, 'os.PathLike[str]'] = None) -> None:
        self._inputs = program.inputs
        self._samples = _core.Samples(program._program, os.fsencode(dataset), None if preprocess is None else os.fsencode(preprocess))

    def __len__(self) -> int:
        return len(self._samples)

    @overload
    def __getitem__(self, index: int) -> List[Array]: ...
    @overload
    def __getitem__(self, index: slice) -> List[List[Array]]: ...
    def __getitem__(self, index: Union[int, slice]) -> Union[List[Array], List[List[Array]]]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(f'sample {index}: the data set has {len(self)}')
        arrays: List[Array] = [np.empty(info.shape, np.float32) for info in self._inputs]
        self._samples.read(place, arrays)
        return [exact(info, array) for info, array in zip(self._inputs, arrays)]


class Session:
    """One run at a time of a program, its inputs and outputs in place.

    >>> session = program.session(threads=1)
    >>> session.input(0)[...] = image        # the program's own memory: no copy
    >>> session.run()
    >>> scores = session.output(0)           # likewise; valid until the next run

    A run may write over its inputs: fill every one before each run, and touch none during it.
    """

    def __init__(self, program: Program, *, threads: int = 0) -> None:
        self._program = program
        self._session = _core.Session(program._program, threads)

    def set(self, index: int, value: Any) -> None:
        """Copies an array into an input, by the rules of Program.run."""
        feed(self._session, index, self._info(self._program.inputs, index, 'input'), value)

    def input(self, index: int) -> Array:
        """The memory of an input, to be written. Refused for a bool, whose bytes `set` checks."""
        info = self._info(self._program.inputs, index, 'input')
        return np.frombuffer(self._session.input_memory(index), np.uint8).view(info.dtype).reshape(info.shape)

    def run(self) -> None:
        """Runs the program once on what its inputs hold."""
        self._session.run()

    def output(self, index: int, *, copy: bool = False) -> Array:
        """The elements of an output of the last run: read only, in the program's memory until the next run.

        A copy where `copy` asks for one, and where the memory has another order of elements than the model's output.
        """
        self._info(self._program.outputs, index, 'output')
        if not copy:
            try:
                memory = self._session.output_memory(index)
            except Unsupported:
                pass
            else:
                info = tensor(self._session.output(index))
                return np.frombuffer(memory, np.uint8).view(info.dtype).reshape(info.shape)
        return fetch(self._session, index, raw=True)

    def real(self, index: int) -> Array:
        """The real values of an output of the last run, in an array of its own."""
        self._info(self._program.outputs, index, 'output')
        return fetch(self._session, index, raw=False)

    @staticmethod
    def _info(tensors: Tuple[Tensor, ...], index: int, kind: str) -> Tensor:
        if not 0 <= index < len(tensors):
            raise InvalidInput(f'{kind} {index}: the program has {len(tensors)}, counted from 0')
        return tensors[index]
