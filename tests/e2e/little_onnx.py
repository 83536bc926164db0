"""Little ONNX models, written node by node."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def constant(name, values):
    return numpy_helper.from_array(np.asarray(values), name)


def save(path, nodes, inputs, outputs, constants=(), opset=17):
    """inputs: {name: shape}, of floats; outputs: names; constants: tensors, or {name: array}."""
    if isinstance(constants, dict):
        constants = [constant(name, array) for name, array in constants.items()]
    graph = helper.make_graph(
        nodes, 'net',
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in inputs.items()],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in outputs],
        list(constants))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', opset)], ir_version=8)
    onnx.save(model, path)
    return path
