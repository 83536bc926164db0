"""Rshift as a backend of onnx (onnx.backend.base), so that whatever drives those drives it: F32 programs unless told otherwise.

>>> import rshift.backend as backend
>>> outputs = backend.prepare(model).run([image])

Needs the package onnx.
"""

from __future__ import annotations

from typing import Any, Dict, List, Sequence, Tuple, Union

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.backend.base import Backend, BackendRep

from ._errors import Error, InvalidInput, Unsupported
from ._program import Program
from ._toolchain import deploy

# Of what a program computes, what a graph may declare in its place: the importer makes F32 of these floats.
_COMPUTED_AS_F32 = ('float16', 'float64')


def _names(model: onnx.ModelProto) -> List[str]:
    constants = {tensor.name for tensor in model.graph.initializer}
    return [info.name for info in model.graph.input if info.name not in constants]


def _dtype(info: onnx.ValueInfoProto) -> Any:
    return helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type)


def _bind(model: onnx.ModelProto, constants: Dict[str, Any], shapes: Dict[str, Any]) -> onnx.ModelProto:
    """The model with some inputs as constants and the others of these shapes."""
    bound = onnx.ModelProto()
    bound.CopyFrom(model)
    kept = [info for info in bound.graph.input if info.name not in constants]
    for info in kept:
        if info.name in shapes:
            del info.type.tensor_type.shape.dim[:]
            for dim in shapes[info.name]:
                info.type.tensor_type.shape.dim.add().dim_value = dim
    del bound.graph.input[:]
    bound.graph.input.extend(kept)
    bound.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in constants.items())
    return bound


class RshiftRep(BackendRep):
    """A model, made a program when the shapes of its inputs are known: in the first run, and again when they change."""

    def __init__(self, model: onnx.ModelProto, options: Dict[str, Any]) -> None:
        self._model = model
        self._options = options
        self._names = _names(model)
        # By what a program depends on: the constants that are bound, and the program, or why there is none.
        self._made: Dict[Any, Union[Tuple[Dict[str, Any], Program], Error]] = {}

    def run(self, inputs: Any, **kwargs: Any) -> Tuple[Any, ...]:
        """inputs: an array for each input, in order, or a mapping from names."""
        if isinstance(inputs, dict):
            inputs = [inputs[name] for name in self._names]
        arrays = [np.asarray(value) for value in ([inputs] if isinstance(inputs, np.ndarray) else inputs)]
        if len(arrays) != len(self._names):
            raise InvalidInput(f"got {len(arrays)} arrays, expected {len(self._names)}, for {', '.join(self._names)}")
        constants, program = self._program(arrays)
        fed = {name: self._fed(name, array) for name, array in zip(self._names, arrays) if name not in constants}
        outputs = program.run(fed, raw=True)  # what a graph declares as integers are integers
        return tuple(array.astype(_dtype(info), copy=False) for info, array in zip(self._model.graph.output, outputs))

    @staticmethod
    def _fed(name: str, array: Any) -> Any:
        if array.dtype.name not in _COMPUTED_AS_F32:
            return array
        with np.errstate(over='ignore'):
            fed = array.astype(np.float32)
        if np.any(np.isinf(fed) & np.isfinite(array)):
            raise InvalidInput(f"input '{name}': has values beyond float32, in which the program computes")
        return fed

    def _program(self, arrays: Sequence[Any]) -> Tuple[Dict[str, Any], Program]:
        for choice in self._choices(arrays):
            key = tuple((array.shape, array.tobytes() if name in choice else None) for name, array in zip(self._names, arrays))
            if key not in self._made:
                self._made[key] = self._make(arrays, choice)
            made = self._made[key]
            if not isinstance(made, Error):
                return made
            if 'not supported' in str(made) and 'expected a constant' not in str(made):
                break
        raise made

    def _make(self, arrays: Sequence[Any], choice: Sequence[str]) -> Union[Tuple[Dict[str, Any], Program], Error]:
        constants = {name: array for name, array in zip(self._names, arrays) if name in choice}
        shapes = {name: array.shape for name, array in zip(self._names, arrays)}
        try:
            return constants, Program(deploy(_bind(self._model, constants, shapes), **self._options))
        except (InvalidInput, Unsupported) as error:
            return error

    def _choices(self, arrays: Sequence[Any]) -> List[List[str]]:
        """What an exporter would write as constants: nothing; axes, shapes and other integers; parameters; everything."""
        integers = [name for name, array in list(zip(self._names, arrays))[1:] if array.dtype.kind in 'iub']
        return [[], integers, self._names[1:], self._names]


class RshiftBackend(Backend):
    """onnx.backend.base.Backend over rshift.deploy: its keywords (mode, table, profile, ...) are those of `prepare`."""

    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = 'CPU', **kwargs: Any) -> bool:
        """Whether inputs and outputs are tensors of numbers; an operator is refused in the first run."""
        infos = [*model.graph.input, *model.graph.output]
        return cls.supports_device(device) and all(
            info.type.HasField('tensor_type') and _dtype(info).kind in 'fiub' and _dtype(info).name != 'bfloat16' for info in infos)

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = 'CPU', **kwargs: Any) -> RshiftRep:
        """A representation whose `run` takes arrays. mode: 'f32' by default."""
        if not cls.supports_device(device):
            raise Unsupported(f"the device is '{device}', expected CPU")
        if not cls.is_compatible(model, device):
            raise Unsupported('the model has inputs or outputs that are no tensors of numbers: sequences, optionals, texts')
        return RshiftRep(model, {'mode': 'f32', **kwargs})

    @classmethod
    def run_node(cls, node: onnx.NodeProto, inputs: Any, device: str = 'CPU', outputs_info: Any = None, **kwargs: Any) -> Tuple[Any, ...]:
        """One operator. outputs_info: (dtype, shape) of each output; else the types of the inputs' kind."""
        arrays = [np.asarray(value) for value in inputs]
        names = [name for name in node.input if name]
        infos = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
                 for name, array in zip(names, arrays)]
        opset = kwargs.pop('opset_version', onnx.defs.onnx_opset_version())
        graph = helper.make_graph([node], 'node', infos, [])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid(node.domain, opset)])
        if outputs_info is None:
            model = onnx.shape_inference.infer_shapes(model)
            known = {info.name: info for info in model.graph.value_info}
            model.graph.output.extend(known[name] for name in node.output if name)
        else:
            model.graph.output.extend(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)
                                      for name, (dtype, shape) in zip(node.output, outputs_info))
        return cls.prepare(model, device, **kwargs).run(arrays)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """'CPU'."""
        return device.split(':')[0] == 'CPU'


is_compatible = RshiftBackend.is_compatible
prepare = RshiftBackend.prepare
run_model = RshiftBackend.run_model
run_node = RshiftBackend.run_node
supports_device = RshiftBackend.supports_device
