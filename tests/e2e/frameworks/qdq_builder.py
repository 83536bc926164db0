"""A case as a QDQ ONNX model: float in, Quantize, Dequantize, the operator, Quantize, Dequantize.

The float inputs are the dequantized bytes, so the first QuantizeLinear gives the bytes back; the
last DequantizeLinear is undone by `bytes_of`. Activations are NCHW.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ONNX_TYPE = {'s8': TensorProto.INT8, 'u8': TensorProto.UINT8}
OPERATORS = {'conv': 'Conv', 'depthwise': 'Conv', 'fc': 'Gemm', 'matmul': 'MatMul', 'batch_matmul': 'MatMul',
             'add': 'Add', 'sub': 'Sub', 'mul': 'Mul', 'relu': 'Relu',
             'average_pool': 'AveragePool', 'mean': 'GlobalAveragePool', 'softmax': 'Softmax',
             'div': 'Div', 'maximum': 'Max', 'minimum': 'Min', 'mod': 'Mod', 'prelu': 'PRelu',
             'leaky_relu': 'LeakyRelu', 'logistic': 'Sigmoid', 'concat': 'Concat'}


def to_nchw(x):
    return np.ascontiguousarray(x.transpose(0, 3, 1, 2)) if x.ndim == 4 else x


def to_nhwc(x):
    return np.ascontiguousarray(x.transpose(0, 2, 3, 1)) if x.ndim == 4 else x


def real(q, quant):
    """Dequantized bytes in float32, as DequantizeLinear computes them."""
    return (q.astype(np.int32) - quant.zero).astype(np.float32) * quant.scales[0]


def prefix(index):
    """What names of the index-th case of build_all start with."""
    return f'case{index}_'


def feeds(case, before=''):
    """{input name: float array} of the model."""
    if case.op == 'quantize':
        return {f'{before}x0': to_nchw(case.inputs[0])}
    return {f'{before}x{i}': to_nchw(real(x, q))
            for i, (x, q) in enumerate(zip(case.inputs, case.input_quants))}


def bytes_of(output, quant):
    """The bytes of a dequantized output, exactly: the grid has 256 values."""
    lo, hi = quant.limits
    grid = real(np.arange(lo, hi + 1), quant)
    index = np.searchsorted(grid, output)
    assert (grid[np.minimum(index, 255)] == output).all(), 'the output is not on its grid'
    return (index + lo).astype(quant.dtype)


class _Graph:
    """Nodes and constants of a case; `before` starts every name but the empty one."""

    def __init__(self, before):
        self.before = before
        self.nodes, self.constants = [], []

    def constant(self, name, array):
        name = self.before + name
        self.constants.append(numpy_helper.from_array(np.array(array, order='C'), name))
        return name

    def parameters(self, name, quant):
        scales = quant.scales if len(quant.scale) > 1 else quant.scales[0]
        zero = np.full(np.shape(scales), quant.zero, quant.dtype)
        return [self.constant(f'{name}_s', np.asarray(scales)), self.constant(f'{name}_z', zero)]

    def node(self, op, inputs, output, **attributes):
        """Inputs are full names, the output is not."""
        output = self.before + output
        self.nodes.append(helper.make_node(op, inputs, [output], name=f'{op}_{output}', **attributes))
        return output

    def activation(self, source, name, quant):
        """Quantize and Dequantize of an activation."""
        p = self.parameters(name, quant)
        quantized = self.node('QuantizeLinear', [source, *p], f'{name}_q')
        return self.node('DequantizeLinear', [quantized, *p], f'{name}_dq')


def _weights(graph, case):
    if case.op == 'depthwise':
        w = case.weights.transpose(3, 0, 1, 2)
    else:
        w = case.weights.transpose(0, 3, 1, 2) if case.op == 'conv' else case.weights
    q = case.weight_quant
    axis = {'axis': int(case.op == 'matmul')} if len(q.scale) > 1 else {}
    made = [graph.node('DequantizeLinear',
                       [graph.constant('w_q', w), *graph.parameters('w', q)], 'w_dq', **axis)]
    if case.bias is not None:
        scales = case.input_quants[0].scales[0] * q.scales
        scales = scales if len(q.scale) > 1 else scales[0]
        zero = np.zeros(np.shape(scales), np.int32)
        made.append(graph.node('DequantizeLinear', [
            graph.constant('b_q', case.bias), graph.constant('b_s', np.asarray(scales, np.float32)),
            graph.constant('b_z', zero)], 'b_dq', **axis))
    return made


def _attributes(case):
    if case.onnx == 'ReduceMean':
        return {'axes': [2, 3], 'keepdims': 1}
    if case.onnx == 'GlobalAveragePool':
        return {}
    if case.op in ('conv', 'depthwise'):
        group = (case.weights.shape[3] if case.op == 'depthwise'
                 else case.inputs[0].shape[3] // case.weights.shape[3])
        return {'kernel_shape': list(case.weights.shape[1:3]), 'strides': list(case.stride),
                'dilations': list(case.dilation), 'pads': list(case.pads()), 'group': group}
    if case.op == 'average_pool':
        return {'kernel_shape': list(case.kernel), 'strides': list(case.stride),
                'pads': list(case.pads())}
    return {'fc': {'transB': 1}, 'mod': {'fmod': 1}, 'softmax': {'axis': -1}, 'concat': {'axis': 1},
            'leaky_relu': {'alpha': case.alpha}}.get(case.op, {})


def _add_case(graph, case):
    """(inputs, output) of one case."""
    sources = [graph.activation(f'{graph.before}x{i}', f'in{i}', q)
               for i, q in enumerate(case.input_quants)]
    constants = _weights(graph, case) if case.weights is not None else []
    if case.op in ('quantize', 'requantize'):
        result = sources[0] if sources else f'{graph.before}x0'
    else:
        result = graph.node(case.onnx or OPERATORS[case.op], sources + constants, 'result',
                            **_attributes(case))
    if case.activation == 'relu':
        result = graph.node('Relu', [result], 'clipped')
    elif case.activation == 'relu6':
        bounds = [graph.constant('c0', np.float32(0)), graph.constant('c6', np.float32(6))]
        result = graph.node('Clip', [result, *bounds], 'clipped')
    graph.activation(result, 'out', case.output_quant)
    graph.nodes[-1].output[0] = graph.before + 'y'
    shape = case.output_shape()
    shape = (shape[0], shape[3], *shape[1:3]) if len(shape) == 4 else shape
    inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, x.shape)
              for n, x in feeds(case, graph.before).items()]
    return inputs, helper.make_tensor_value_info(graph.before + 'y', TensorProto.FLOAT, shape)


def _build(cases, before, opset):
    inputs, outputs, nodes, constants = [], [], [], []
    for i, case in enumerate(cases):
        graph = _Graph(before(i))
        sources, output = _add_case(graph, case)
        inputs += sources
        outputs.append(output)
        nodes += graph.nodes
        constants += graph.constants
    made = helper.make_graph(nodes, 'cases', inputs, outputs, constants)
    model = helper.make_model(made, opset_imports=[helper.make_opsetid('', opset)], ir_version=8)
    onnx.checker.check_model(model)
    return model


def build(case, opset=13):
    """One case as a ModelProto; inputs x0, x1, output y."""
    return _build([case], lambda i: '', opset)


def build_all(cases, opset=13):
    """All cases side by side in one model, their names after prefix(i)."""
    return _build(cases, prefix, opset)
