"""The names of onnxruntime's InferenceSession, for code that calls it."""

from __future__ import annotations

import dataclasses
from typing import Any, List, Mapping, Optional, Sequence

import numpy as np

from ._errors import InvalidInput
from ._program import Array, Program, Source
from ._tensor import Tensor

_TYPES = {'float32': 'float', 'float16': 'float16', 'bool': 'bool'}


@dataclasses.dataclass(frozen=True)
class NodeArg:
    """An input or output, as onnxruntime describes it."""

    name: str
    shape: List[int]
    type: str


def _node_arg(info: Tensor) -> NodeArg:
    name = np.dtype(info.dtype).name
    return NodeArg(info.name, list(info.shape), f'tensor({_TYPES.get(name, name)})')


class InferenceSession:
    """A program behind the names of onnxruntime: get_inputs, get_outputs, run(output_names, feed).

    >>> session = rshift.InferenceSession('net.rshift')
    >>> scores, = session.run(None, {session.get_inputs()[0].name: image})

    It takes a .rshift program, which `deploy` makes of an ONNX model. Outputs have the types that get_outputs says, quantized ones are
    integers (Program.run gives their real values). Providers and options of onnxruntime have no meaning here and are not taken.
    """

    def __init__(self, path_or_bytes: Source, *, threads: int = 0, limits: str = '') -> None:
        self._program = Program(path_or_bytes, threads=threads, limits=limits)
        self._output_names = [info.name for info in self._program.outputs]

    def get_inputs(self) -> List[NodeArg]:
        """Names, shapes and types of the inputs."""
        return list(map(_node_arg, self._program.inputs))

    def get_outputs(self) -> List[NodeArg]:
        """Names, shapes and types of the outputs."""
        return list(map(_node_arg, self._program.outputs))

    def get_providers(self) -> List[str]:
        """What computes."""
        return ['RshiftExecutionProvider']

    def run(self, output_names: Optional[Sequence[str]], input_feed: Mapping[str, Any]) -> List[Array]:
        """The outputs of these names, of all where there are none."""
        names = self._output_names if not output_names else output_names
        for name in names:
            if name not in self._output_names:
                raise InvalidInput(f"output '{name}': the program has no such output, expected {', '.join(self._output_names)}")
        outputs = dict(zip(self._output_names, self._program.run(input_feed, raw=True)))
        return [outputs[name] for name in names]
