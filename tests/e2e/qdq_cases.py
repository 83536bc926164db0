"""Single operators between DequantizeLinear and QuantizeLinear, as models of one operator."""

import dataclasses

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

TYPES = {'s8': np.int8, 'u8': np.uint8}


class Builder:
    """Writes QDQ graphs; names are given, constants are seeded by the operator's name."""

    def __init__(self, name, kind, opset=13):
        self.rng = np.random.default_rng([ord(c) for c in name + kind])
        self.kind, self.opset = kind, opset
        self.nodes, self.constants, self.inputs, self.outputs = [], [], [], []

    def constant(self, name, values):
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def input(self, name, shape):
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        return name

    def node(self, op, inputs, output, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [output], name=output + '_node', **attributes))
        return output

    def parameters(self, name, scale, zero, dtype=None):
        return (self.constant(name + '_s', np.float32(scale)),
                self.constant(name + '_z', np.asarray(zero, dtype or TYPES[self.kind])))

    def trip(self, x, scale, zero=None):
        """x -> x_q -> x_dq; the zero point is unlike 0."""
        if zero is None:
            zero = 121 if self.kind == 'u8' else -7
        scale_zero = self.parameters(x, scale, zero)
        self.node('QuantizeLinear', [x, *scale_zero], x + '_q')
        return self.node('DequantizeLinear', [x + '_q', *scale_zero], x + '_dq')

    def quantized(self, x, scale, zero=None):
        """As trip(), and the end of the model: its integers are an output, too."""
        self.outputs += [x + '_q', self.trip(x, scale, zero)]

    def weights(self, name, shape, axis=0, per_channel=True, dtype=None, zero=0):
        """DequantizeLinear of random integers."""
        limits = np.iinfo(dtype or np.int8)
        channels = shape[axis] if per_channel else 1
        scales = self.rng.uniform(0.002, 0.01, channels).astype(np.float32)
        q = self.rng.integers(limits.min, limits.max + 1, shape).astype(limits.dtype)
        if not per_channel:
            scales = scales[0]
        names = [self.constant(name + '_q', q), self.constant(name + '_s', scales),
                 self.constant(name + '_z', np.full(np.shape(scales), zero, limits.dtype))]
        return self.node('DequantizeLinear', names, name, **({'axis': axis} if per_channel else {})), scales

    def bias(self, name, scales):
        scales = np.float32(scales)
        q = self.rng.integers(-3000, 3000, max(scales.size, 4)).astype(np.int32)[:scales.size or 4]
        names = [self.constant(name + '_q', q), self.constant(name + '_s', scales)]
        return self.node('DequantizeLinear', names, name, **({'axis': 0} if scales.ndim else {}))

    def model(self):
        outputs = [helper.make_tensor_value_info(
            n, (TensorProto.INT8 if self.kind == 's8' else TensorProto.UINT8) if n.endswith('_q')
            else TensorProto.FLOAT, None) for n in self.outputs]
        graph = helper.make_graph(self.nodes, 'qdq', self.inputs, outputs, self.constants)
        model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid('', self.opset)])
        return onnx.shape_inference.infer_shapes(model)

    def sample(self, index):
        rng = np.random.default_rng([index, *(ord(c) for c in self.kind)])
        return {i.name: rng.uniform(-2, 2, [d.dim_value for d in i.type.tensor_type.shape.dim]).astype(np.float32)
                for i in self.inputs}


@dataclasses.dataclass
class Case:
    name: str
    build: object
    units: int = 1    # largest difference to ONNX Runtime, in steps of the output
    f32: bool = False  # has no integer form in the default profile
    conv_f32: bool = False  # nor has a convolution of it

    def model(self, kind):
        builder = Builder(self.name, kind)
        self.build(builder)
        return builder


IMAGE = (2, 8, 9, 7)
SCALE = 0.0171  # of the inputs


def conv(b, per_channel=True, dtype=None, zero=0, group=1, clip=False, **attributes):
    x = b.trip(b.input('x', IMAGE), SCALE)
    kernel = attributes.get('kernel_shape', [3, 3])
    w, scales = b.weights('w', (8, 8 // group, *kernel), 0, per_channel, dtype, zero)
    bias_scales = scales * np.float32(SCALE)
    if not per_channel:  # one scale, eight numbers
        names = [b.constant('b_q', b.rng.integers(-3000, 3000, 8).astype(np.int32)),
                 b.constant('b_s', np.float32(bias_scales))]
        bias = b.node('DequantizeLinear', names, 'b')
    else:
        bias = b.bias('b', bias_scales)
    y = b.node('Conv', [x, w, bias], 'c', group=group, **attributes)
    if clip:
        y = b.node('Clip', [y, b.constant('lo', np.float32(0)), b.constant('hi', np.float32(6))], 'r')
    b.quantized(y, 0.043)


def gemm(b, per_channel=True, transposed=True):
    x = b.trip(b.input('x', (5, 24)), SCALE)
    w, scales = b.weights('w', (6, 24) if transposed else (24, 6), 0 if transposed else 1, per_channel)
    scales = np.broadcast_to(scales, 6) * np.float32(SCALE)
    y = b.node('Gemm', [x, w, b.bias('b', scales)], 'y', transB=int(transposed))
    b.quantized(y, 0.02)


def matmul(b):
    x = b.trip(b.input('x', (2, 5, 24)), SCALE)
    w, _ = b.weights('w', (24, 6), 1)
    b.quantized(b.node('MatMul', [x, w], 'y'), 0.02)


def binary(op):
    def build(b):
        x, y = b.trip(b.input('x', IMAGE), SCALE), b.trip(b.input('y', IMAGE), 0.0123, 3)
        b.quantized(b.node(op, [x, y], 'z'), 0.031)
    return build


def unary(op, out=0.0171, **attributes):
    def build(b):
        x = b.trip(b.input('x', IMAGE), SCALE)
        b.quantized(b.node(op, [x], 'y', **attributes), out)
    return build


def movement(op, constants=(), **attributes):
    """Equal parameters on both sides: the bytes must be equal."""
    def build(b):
        x = b.trip(b.input('x', IMAGE), SCALE)
        names = [b.constant(f'c{i}', c) for i, c in enumerate(constants)]
        b.quantized(b.node(op, [x, *names], 'y', **attributes), SCALE)
    return build


def pad_beyond_input(b):
    """A number that the input's integers do not reach: ONNX Runtime pads with the result's."""
    x = b.trip(b.input('x', IMAGE), SCALE)
    names = [b.constant('pads', np.int64([0, 0, 1, 2, 0, 0, 3, 0])), b.constant('value', np.float32(400 * SCALE))]
    b.quantized(b.node('Pad', [x, *names], 'y'), SCALE * 5)


def concat(b):
    x, y = b.trip(b.input('x', IMAGE), SCALE), b.trip(b.input('y', IMAGE), 0.0123, 3)
    b.quantized(b.node('Concat', [x, y], 'z', axis=1), SCALE)


def requantize(b):
    x = b.trip(b.input('x', IMAGE), SCALE)
    b.quantized(b.node('Identity', [x], 'y'), 0.0311, 5)


def float_weights(b):
    """Weights given as floats with QuantizeLinear before DequantizeLinear."""
    x = b.trip(b.input('x', IMAGE), SCALE)
    b.constant('w', b.rng.uniform(-1, 1, (4, 8, 1, 1)).astype(np.float32))
    b.quantized(b.node('Conv', [x, b.trip('w', 1 / 127, 0)], 'c'), 0.02)


CASES = [
    Case('conv', conv),
    Case('conv per tensor', lambda b: conv(b, per_channel=False, pads=[1, 1, 1, 1])),
    Case('conv u8 weights', lambda b: conv(b, per_channel=False, dtype=np.uint8, zero=131, pads=[1, 0, 1, 2])),
    Case('conv s8 zero point', lambda b: conv(b, per_channel=False, zero=-9)),
    Case('conv relu6', lambda b: conv(b, clip=True, strides=[2, 2], pads=[1, 1, 1, 1])),
    Case('depthwise', lambda b: conv(b, group=8, pads=[1, 1, 1, 1])),
    Case('pointwise', lambda b: conv(b, kernel_shape=[1, 1])),
    Case('conv dilated', lambda b: conv(b, dilations=[2, 2])),
    Case('gemm', gemm),
    Case('gemm per tensor', lambda b: gemm(b, per_channel=False)),
    Case('gemm plain', lambda b: gemm(b, transposed=False)),
    Case('matmul', matmul),
    Case('float weights', float_weights),
    Case('add', binary('Add')),
    Case('averagepool', unary('AveragePool', 0.0137, kernel_shape=[3, 3], pads=[1, 1, 1, 1])),
    Case('globalaveragepool', unary('GlobalAveragePool', 0.004)),
    Case('sigmoid', unary('Sigmoid', 1 / 256)),
    Case('tanh', unary('Tanh', 1 / 128)),
    Case('leakyrelu', unary('LeakyRelu', 0.0143, alpha=0.1)),
    Case('relu', unary('Relu')),
    Case('softmax', unary('Softmax', 1 / 256, axis=1)),
    Case('requantize', requantize),
    Case('concat', concat),
    Case('maxpool', movement('MaxPool', kernel_shape=[2, 2], strides=[2, 2]), 0),
    Case('reshape', movement('Reshape', [np.int64([2, -1])]), 0),
    Case('transpose', movement('Transpose', perm=[0, 2, 3, 1]), 0),
    Case('pad', movement('Pad', [np.int64([0, 0, 1, 2, 0, 0, 3, 0])]), 0),
    Case('pad beyond its input', pad_beyond_input),
    Case('slice', movement('Slice', [np.int64([1]), np.int64([6]), np.int64([2])]), 0),
]
