"""Whole QDQ models: what ONNX Runtime holds in every tensor t<N> of them.

The tensors t<N>_q of a *_qdq.onnx are the tensors number N of the .tflite beside it.
"""

import re

import numpy as np
import onnx
from onnx import numpy_helper

from frameworks import ort


def quantized_names(model):
    """{N: t<N>_q} of the activations."""
    return {int(found[1]): node.output[0] for node in model.graph.node
            if node.op_type == 'QuantizeLinear'
            and (found := re.fullmatch(r't(\d+)_q', node.output[0]))}


def with_scalar_parameters(model):
    """A copy whose scales and zero points of shape [1] are scalars.

    ONNX Runtime 1.31 refuses QLinearAdd with shape [1], and keeps a Clip it could drop.
    """
    made = onnx.ModelProto()
    made.CopyFrom(model)
    names = {name for node in made.graph.node if node.op_type in ('QuantizeLinear', 'DequantizeLinear')
             for name in node.input[1:]}
    for tensor in made.graph.initializer:
        if tensor.name in names and list(tensor.dims) == [1]:
            del tensor.dims[:]
    return made


def with_unsigned_activations(model):
    """A copy whose int8 activations are uint8, zero points + 128: the same real numbers.

    ONNX Runtime does this on x86-64 itself, but only for tensors that one node reads; a Conv
    between a converted and an unconverted tensor then runs in float.
    """
    made = onnx.ModelProto()
    made.CopyFrom(model)
    zeros = {node.input[2] for node in made.graph.node if node.op_type == 'QuantizeLinear'}
    for i, tensor in enumerate(made.graph.initializer):
        if tensor.name in zeros and tensor.data_type == onnx.TensorProto.INT8:
            moved = (numpy_helper.to_array(tensor).astype(np.int16) + 128).astype(np.uint8)
            made.graph.initializer[i].CopyFrom(numpy_helper.from_array(moved, tensor.name))
    del made.graph.value_info[:]  # they name the old types
    return made


def with_outputs(model, names):
    """A copy that also gives these quantized tensors (uint8)."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    for name in names:
        made.graph.output.append(
            onnx.helper.make_tensor_value_info(name, onnx.TensorProto.UINT8, None))
    return made


class OnnxRuntime:
    """The model with scalar parameters and unsigned activations, with and without outputs inside."""

    def __init__(self, model):
        self.names = quantized_names(model)
        self.signed = any(t.data_type == onnx.TensorProto.INT8 for t in model.graph.initializer
                          if t.name in {n.input[2] for n in model.graph.node
                                        if n.op_type == 'QuantizeLinear'})
        plain = with_unsigned_activations(with_scalar_parameters(model))
        inside = with_outputs(plain, self.names.values())
        self.operators = ort.optimized_operators(plain)
        self.operators_inside = ort.optimized_operators(inside)
        self.plain, self.inside = ort.session(plain), ort.session(inside)
        scalar = with_scalar_parameters(model)
        self.original = ort.session(scalar)
        kept = ort.optimized_operators(scalar)
        self.float_convolutions = kept.get('Conv', 0) + kept.get('FusedConv', 0)

    def tensors(self, x):
        """{N: array NCHW} in the types of the model."""
        values = self.inside.run(list(self.names.values()), {self.inside.get_inputs()[0].name: x})
        if self.signed:
            values = [(v.astype(np.int16) - 128).astype(np.int8) for v in values]
        return dict(zip(self.names, values))

    def outputs(self, x):
        """The float output of the model as it is, and with unsigned activations."""
        return [s.run(None, {s.get_inputs()[0].name: x})[0] for s in (self.original, self.plain)]
