"""What the field writes behind a convolution of a QDQ model, as models of one pattern each."""

import numpy as np

from onnx import numpy_helper

from qdq_cases import IMAGE, SCALE, TYPES, Case

SIZE = (2, 8, 9, 7)  # of the convolution's result


def linear(b, x='x', name='', **attributes):
    """x -> Q -> DQ -> Conv 3x3 of integers, padded to its input's size."""
    if x + '_dq' not in [o for n in b.nodes for o in n.output]:
        b.trip(b.input(x, IMAGE), SCALE)
    w, scales = b.weights('w' + name, (8, 8, 3, 3))
    bias = b.bias('b' + name, scales * np.float32(SCALE))
    return b.node('Conv', [x + '_dq', w, bias], 'c' + name, pads=[1, 1, 1, 1], **attributes)


def function(op, out=0.043, **attributes):
    def build(b):
        b.opset = 14  # the first with HardSwish
        b.quantized(b.node(op, [linear(b)], 'y', **attributes), out)
    return build


def swish(b):
    y = linear(b)
    b.quantized(b.node('Mul', [y, b.node('Sigmoid', [y], 's')], 'y'), 0.043)


def hard_swish_of_parts(b):
    """x * clip(x + 3, 0, 6) / 6, as PyTorch's exporter wrote it for long."""
    y = linear(b)
    three = b.node('Add', [y, b.constant('three', np.float32(3))], 'a3')
    clip = b.node('Clip', [three, b.constant('lo', np.float32(0)), b.constant('hi', np.float32(6))], 'clip')
    six = b.node('Mul', [y, clip], 'product')
    b.quantized(b.node('Div', [six, b.constant('six', np.float32(6))], 'y'), 0.043)


def prelu(low, then=None):
    """A slope for each channel; below 0 they are no factors of accumulators."""
    def build(b):
        slope = b.constant('slope', b.rng.uniform(low, 0.5, (8, 1, 1)).astype(np.float32))
        y = b.node('PRelu', [linear(b), slope], 'prelu')
        b.quantized(b.node(then, [y], 'y') if then else y, 0.043)
    return build


def two(first, second, out=0.043):
    """Two functions, each (operator, attributes)."""
    def build(b):
        y = b.node(first[0], [linear(b)], 'f', **first[1])
        b.quantized(b.node(second[0], [y], 'y', **second[1]), out)
    return build


def skip(relu=False, late=False, zero=None):
    """conv + another tensor of integers; late: it is made behind the convolution."""
    def build(b):
        y = linear(b) if late else None
        other = b.trip(b.input('z', SIZE), 0.0123, zero)
        total = b.node('Add', [y or linear(b), other], 'sum')
        b.quantized(b.node('Relu', [total], 'y') if relu else total, 0.043)
    return build


def two_convolutions(b):
    """Both operands of the Add are convolutions, neither quantized."""
    total = b.node('Add', [linear(b), linear(b, name='2')], 'sum')
    b.quantized(b.node('Relu', [total], 'y'), 0.043)


def concat(b):
    y = b.node('Concat', [linear(b), linear(b, name='2')], 'y', axis=1)
    b.quantized(y, 0.043)


def pooled_transposed(b):
    y = b.node('MaxPool', [linear(b)], 'pool', kernel_shape=[2, 2], strides=[2, 2])
    y = b.node('Reshape', [y, b.constant('shape', np.int64([2, -1]))], 'flat')
    b.quantized(y, 0.043)


def last_layer(b):
    """No QuantizeLinear behind it: the result is real."""
    b.outputs.append(linear(b))


def last_clipped(b):
    b.outputs.append(b.node('Relu', [linear(b)], 'y'))


def last_matmul(b):
    x = b.trip(b.input('x', (5, 24)), SCALE)
    w, scales = b.weights('w', (24, 6), 1)
    bias = b.bias('b', scales * np.float32(SCALE))
    b.outputs.append(b.node('Gemm', [x, w, bias], 'y'))


def two_readers(b):
    """One reader wants integers, the other does not."""
    y = linear(b)
    b.quantized(y, 0.043)
    b.outputs.append(b.node('Softmax', [y], 's', axis=1))


def depthwise(b):
    x = b.trip(b.input('x', IMAGE), SCALE)
    w, scales = b.weights('w', (8, 1, 3, 3))
    y = b.node('Conv', [x, w, b.bias('b', scales * np.float32(SCALE))], 'c', group=8)
    b.quantized(b.node('Sigmoid', [y], 'y'), 1 / 256)


def last_depthwise(b):
    x = b.trip(b.input('x', IMAGE), SCALE)
    w, scales = b.weights('w', (8, 1, 3, 3))
    b.outputs.append(b.node('Conv', [x, w, b.bias('b', scales * np.float32(SCALE))], 'c', group=8))


def channel_scales(activation='Relu', zero=0, group=8, pad=1, top=None):
    """conv -> activation -> Q with a scale a channel -> DQ -> convolution -> Q, as NNCF writes it."""
    def build(b):
        y = linear(b)
        if top is not None:
            y = b.node('Clip', [y, b.constant('lo', np.float32(0)), b.constant('hi', np.float32(top))], 'r')
        elif activation:
            y = b.node(activation, [y], 'r')
        lowest = np.iinfo(TYPES[b.kind]).min
        zeros = np.broadcast_to(np.asarray(lowest + zero, TYPES[b.kind]), 8)
        names = [b.constant('r_s', b.rng.uniform(0.008, 0.02, 8).astype(np.float32)), b.constant('r_z', zeros)]
        b.node('QuantizeLinear', [y, *names], 'r_q', axis=1)
        dq = b.node('DequantizeLinear', ['r_q', *names], 'r_dq', axis=1)
        w, _ = b.weights('dw', (8, 8 // group, 3, 3))
        b.quantized(b.node('Conv', [dq, w], 'd', group=group, pads=[pad] * 4), 0.043)
    return build


def batch_norm(b):
    """Of both signs: the integers of the weights stay, their scales change."""
    scale = b.rng.uniform(0.2, 1.5, 8).astype(np.float32) * np.where(np.arange(8) % 3 == 2, -1, 1).astype(np.float32)
    names = [b.constant(f'n{i}', v) for i, v in enumerate((
        scale, b.rng.uniform(-1, 1, 8).astype(np.float32), b.rng.uniform(-1, 1, 8).astype(np.float32),
        b.rng.uniform(0.3, 2, 8).astype(np.float32)))]
    y = linear(b)
    q = next(i for i, c in enumerate(b.constants) if c.name == 'w_q')
    b.constants[q] = numpy_helper.from_array(np.maximum(numpy_helper.to_array(b.constants[q]), -127), 'w_q')
    b.quantized(b.node('BatchNormalization', [y, *names], 'n'), 0.043)


# f32: not everything behind the convolution is integer.
CASES = [
    Case('tanh', function('Tanh', 1 / 128)),
    Case('sigmoid', function('Sigmoid', 1 / 256)),
    Case('elu', function('Elu', alpha=0.7)),
    Case('leaky', function('LeakyRelu', alpha=0.1)),
    Case('abs', function('Abs')),
    Case('swish', swish),
    Case('hardswish', function('HardSwish')),
    Case('hardswish of parts', hard_swish_of_parts),
    Case('prelu', prelu(0)),
    Case('prelu of negative slopes', prelu(-0.5)),
    Case('prelu of negative slopes tanh', prelu(-0.5, 'Tanh')),
    Case('leaky tanh', two(('LeakyRelu', {'alpha': 0.2}), ('Tanh', {}), 1 / 128)),
    Case('maxpool', function('MaxPool', kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])),
    Case('tanh maxpool', two(('Tanh', {}), ('MaxPool', {'kernel_shape': [2, 2]}), 1 / 128)),
    Case('averagepool', function('AveragePool', kernel_shape=[2, 2]), f32=True),
    Case('maxpool flatten', pooled_transposed),
    Case('skip', skip()),
    Case('skip relu', skip(relu=True)),
    Case('skip relu made later', skip(relu=True, late=True)),
    Case('skip zero', skip(zero=0)),
    Case('two convolutions', two_convolutions, f32=True),
    Case('concat', concat),
    Case('two readers', two_readers, f32=True),
    Case('depthwise sigmoid', depthwise),
    Case('batch norm', batch_norm),
    Case('channel scales', channel_scales()),
    Case('channel scales zero', channel_scales(zero=7)),
    Case('channel scales leaky', channel_scales('LeakyRelu', zero=40)),
    Case('channel scales elu', channel_scales('Elu', zero=40), f32=True),
    Case('channel scales clip', channel_scales(top=6)),
    Case('channel scales low clip', channel_scales(top=1), f32=True),
    Case('channel zeros', channel_scales(zero=np.arange(8))),
    Case('channel scales general', channel_scales(group=1), f32=True, conv_f32=True),
    Case('last layer', last_layer),
    Case('last layer relu', last_clipped),
    Case('last depthwise', last_depthwise),
    Case('last matmul', last_matmul),
]
