"""LiteRT's 16x8 (int16 activations, int8 weights, int64 biases) as integers: every element equals LiteRT's in its three ways."""

import dataclasses

import numpy as np
import pytest

pytest.importorskip('ai_edge_litert', reason='ai-edge-litert is not installed: LiteRT is not compared')

import pipeline  # noqa: E402
from frameworks import litert, tflite_net  # noqa: E402
from frameworks.tflite_cases import window  # noqa: E402

ALL = np.arange(-32768, 32768).astype(np.int16)
ONE = np.float32(1 / 32768)
ROUNDS = 3  # of random shapes and scales


class Chain:
    """One operator on int16 between a QUANTIZE and a DEQUANTIZE; `ties`: all scales are powers of two."""

    def __init__(self, seed, ties=False):
        self.random, self.ties = np.random.default_rng(seed), ties
        self.net, self.inputs, self.samples = tflite_net.Net(), [], {}

    def scale(self, low, high):
        value = self.random.uniform(low, high)
        return np.float32(2.0 ** np.round(np.log2(value))) if self.ties else np.float32(value)

    def numbers(self, shape):
        """All of int16, small ones, ends."""
        q = self.random.integers(-32768, 32768, shape)
        kind = self.random.integers(0, 4, shape)
        q = np.where(kind == 0, q // 256, q)
        ends = self.random.choice([-32768, -32767, 32767, 0, 1, -1], shape)
        return np.where(self.random.random(shape) < .05, ends, q).astype(np.int16)

    def input(self, shape, scale, numbers=None):
        name = f'x{len(self.inputs)}'
        x, q = self.net.tensor(name, shape, np.float32), self.tensor(f'q{len(self.inputs)}', shape, scale)
        self.net.operator('QUANTIZE', [x], [q])
        self.inputs.append(x)
        made = self.numbers(shape) if numbers is None else numbers
        self.samples[name] = made.astype(np.float32) * scale
        return q

    def tensor(self, name, shape, scale, dtype=np.int16, zero=0):
        return self.net.tensor(name, shape, dtype, (scale, zero))

    def weights(self, shape, axis, step, one=False):
        """int8 weights and the int64 bias."""
        count = shape[axis]
        scales = np.array([self.scale(.002, .02) for _ in range(1 if one else count)], np.float32)
        w = self.random.integers(-127, 128, shape).astype(np.int8)
        bias = self.random.integers(-10 ** 6, 10 ** 6, count).astype(np.int64)
        return [self.net.constant('w', w, (scales, 0), axis),
                self.net.constant('b', bias, (scales * step, 0))]

    def operator(self, code, inputs, shape, scale, options=None, **fields):
        y = self.tensor('y', shape, scale)
        self.net.operator(code, inputs, [y], options, **fields)
        return self.finish(y, shape)

    def finish(self, y, shape):
        out = self.net.tensor('out', shape, np.float32)
        self.net.operator('DEQUANTIZE', [y], [out])
        return self.net.bytes(self.inputs, [out])


def conv(c, groups=1):
    act = c.random.choice(['none', 'relu', 'relu6'])
    n, h, w, ic, oc = 2, *c.random.integers(9, 30, 2), groups * c.random.integers(1, 10), groups * c.random.integers(1, 20)
    k = c.random.integers(1, 4, 2)
    sx, shape = c.scale(1e-5, 4e-4), tuple(int(v) for v in (n, h, w, oc))
    x = c.input((n, int(h), int(w), int(ic)), sx)
    return c.operator('CONV_2D', [x, *c.weights((int(oc), int(k[0]), int(k[1]), int(ic // groups)), 0, sx)], shape,
                      c.scale(5e-4, 2e-3), 'Conv2DOptions', **window(act=act))


def depthwise(c, bias=True):
    channels, multiplier = int(c.random.integers(1, 40)), int(c.random.integers(1, 3))
    sx, out = c.scale(1e-5, 4e-4), channels * multiplier
    x = c.input((1, 9, 7, channels), sx)
    constants = c.weights((1, 3, 3, out), 3, sx)
    return c.operator('DEPTHWISE_CONV_2D', [x, *constants[:1 + bias]], (1, 9, 7, out), c.scale(2e-4, 1e-3),
                      'DepthwiseConv2DOptions', **window(depthMultiplier=multiplier))


def fully_connected(c, bias=True, one=False):
    rows, k, n = (int(v) for v in c.random.integers((300, 1, 1), (400, 300, 30)))
    sx = c.scale(1e-5, 4e-4)
    x = c.input((rows, k), sx)
    return c.operator('FULLY_CONNECTED', [x, *c.weights((n, k), 0, sx, one)[:1 + bias]], (rows, n),
                      c.scale(2e-4, 2e-3), 'FullyConnectedOptions')


def pair(c, code, options, constant='', **fields):
    shape = (37, 41, 11)
    a = c.input(shape, c.scale(5e-5, 4e-4))
    if constant:
        other = {'row': (11,), 'one': (1,), 'plane': (41, 1)}[constant]
        numbers = c.numbers(other) if constant != 'one' else np.array([c.random.integers(-9000, 9000)], np.int16)
        b = c.net.constant('k', numbers, (c.scale(5e-5, 4e-4), 0))
    else:
        b = c.input(shape, c.scale(5e-5, 4e-4))
    step = c.scale(5e-5, 4e-4) if code != 'MUL' else c.scale(1e-4, 2e-3)
    inputs = [b, a] if fields.pop('swapped', False) else [a, b]
    return c.operator(code, inputs, shape, step, options, **fields)


def shifted_pair(c, code, options):
    """Scales that are powers of two, and the flag: LiteRT shifts the finer operand."""
    shape, steps = (37, 41, 11), [np.float32(2.0 ** -12), np.float32(2.0 ** -int(c.random.integers(13, 20)))]
    c.random.shuffle(steps)
    a, b = (c.input(shape, step) for step in steps)
    return c.operator(code, [a, b], shape, np.float32(2.0 ** -12), options, potScaleInt16=True)


def broadcast(c):
    a = c.input((5, 7, 1, 6), c.scale(5e-5, 4e-4))
    b = c.input((7, 4, 1), c.scale(5e-5, 4e-4))
    return c.operator('ADD', [a, b], (5, 7, 4, 6), c.scale(5e-5, 4e-4), 'AddOptions', potScaleInt16=False)


def function(c, code, scale_x, scale_y, options=None, **fields):
    x = c.input(ALL.shape, scale_x, ALL)
    return c.operator(code, [x], ALL.shape, scale_y, options, **fields)


def own_scales(c, code, options=None, **fields):
    return function(c, code, c.scale(5e-5, 4e-4), c.scale(5e-5, 4e-4), options, **fields)


def pool(c, code, padding):
    shape, step = (1, 13, 11, int(c.random.integers(1, 40))), c.scale(1e-4, 4e-4)
    k = [int(v) for v in c.random.integers(1, 5, 2)]
    out = shape if padding == 'SAME' else (1, 14 - k[0], 12 - k[1], shape[3])
    return c.operator(code, [c.input(shape, step)], out, step, 'Pool2DOptions', filterHeight=k[0], filterWidth=k[1],
                      **window(padding))


def mean(c, axes):
    shape = (3, 9, 7, 20)
    out = tuple(1 if d in axes else n for d, n in enumerate(shape))
    x = c.input(shape, c.scale(5e-5, 4e-4))
    axis = c.net.constant('axes', np.array(axes, np.int32))
    return c.operator('MEAN', [x, axis], out, c.scale(5e-5, 4e-4), 'ReducerOptions', keepDims=True)


def product_of_elements(c, axes):
    """Partial products that stay within 32 bits: LiteRT defines no others."""
    shape = (3, 3, 2, 20)
    out = tuple(1 if d in axes else n for d, n in enumerate(shape))
    step, n = c.scale(5e-5, 2e-4), int(np.prod([shape[d] for d in axes]))
    x = c.input(shape, step)
    axis = c.net.constant('axes', np.array(axes, np.int32))
    largest = (32768 * step) ** n
    return c.operator('REDUCE_PROD', [x, axis], out, float(np.float32(largest / 32768 * c.random.uniform(.01, 1.5))), 'ReducerOptions', keepDims=True)


def reduced_extremum(c, code, axes):
    """One scale: LiteRT compares integers as they are."""
    shape, step = (3, 9, 7, int(c.random.integers(1, 40))), c.scale(5e-5, 4e-4)
    out = tuple(1 if d in axes else n for d, n in enumerate(shape))
    axis = c.net.constant('axes', np.array(axes, np.int32))
    return c.operator(code, [c.input(shape, step), axis], out, step, 'ReducerOptions', keepDims=True)


def negation(c):
    """One scale: LiteRT negates integers as they are."""
    step = c.scale(5e-5, 4e-4)
    return function(c, 'NEG', step, step)


def square_root(c):
    """LiteRT stops at an input below 0."""
    x = c.input((32768,), c.scale(5e-5, 4e-4), ALL[32768:])
    return c.operator('SQRT', [x], (32768,), c.scale(5e-5, 4e-4))


def inverse_root(c):
    """LiteRT stops at an input below 0."""
    x = c.input((32768,), c.scale(5e-5, 4e-4), ALL[32768:])
    return c.operator('RSQRT', [x], (32768,), c.scale(5e-4, 4e-3))


def softmax(c):
    rows, n = 40, int(c.random.integers(1, 1200))
    return c.operator('SOFTMAX', [c.input((rows, n), c.scale(1e-5, 1e-3))], (rows, n), ONE, 'SoftmaxOptions', beta=1.0)


def bilinear(c, **how):
    """Any size to any other, one pixel and equal sizes too."""
    h, w, channels = (int(v) for v in c.random.integers(1, (12, 12, 40)))
    size = [int(v) for v in c.random.integers(1, 25, 2)]
    size = [size, [2 * h, 2 * w], [h, 3 * w]][c.random.integers(0, 3)]
    step = c.scale(5e-5, 4e-4)
    x = c.input((2, h, w, channels), step)
    return c.operator('RESIZE_BILINEAR', [x, c.net.constant('size', np.array(size, np.int32))], (2, *size, channels), step,
                      'ResizeBilinearOptions', **how)


def extremum(c, code, constant=False):
    """One scale: LiteRT compares integers as they are."""
    shape, step = (23, 1, 37, 11), c.scale(5e-5, 4e-4)
    a = c.input(shape, step)
    b = c.net.constant('k', c.numbers((37, 11)), (step, 0)) if constant else c.input((1, 5, 37, 11), step)
    out = shape if constant else (23, 5, 37, 11)
    return c.operator(code, [b, a] if c.random.integers(0, 2) else [a, b], out, step, 'MaximumMinimumOptions')


def prelu(c, shape, kind=np.int8):
    """Slopes of 8 bits, of both signs: LiteRT reads those of 16 as if they were."""
    x = c.input((2, 9, 7, 11), c.scale(5e-5, 4e-4))
    slopes = c.net.constant('slopes', c.random.integers(-128, 128, shape).astype(kind), (c.scale(2e-3, 2e-2), 0))
    return c.operator('PRELU', [x, slopes], (2, 9, 7, 11), c.scale(5e-5, 4e-4))


def batch_matmul(c, adjoint):
    """Products of two activations, batches broadcast; K up to 600."""
    m, k, n = (int(v) for v in c.random.integers((20, 1, 20), (50, 600, 50)))
    sa, sb = c.scale(1e-5, 4e-4), c.scale(1e-5, 4e-4)
    a = c.input((3, 2, k, m) if adjoint else (3, 2, m, k), sa)
    b = c.input((2, n, k) if adjoint else (2, k, n), sb)
    return c.operator('BATCH_MATMUL', [a, b], (3, 2, m, n), c.scale(2e-4, 2e-3), 'BatchMatMulOptions', adjX=adjoint, adjY=adjoint)


def transpose_conv(c, padding, bias=True):
    ic, oc = (int(v) for v in c.random.integers(1, 20, 2))
    k, s = (int(v) for v in c.random.integers(1, 5, 2)), [int(v) for v in c.random.integers(1, 4, 2)]
    k = list(k)
    sx, h, w = c.scale(1e-5, 4e-4), 7, 6
    size = (h * s[0], w * s[1]) if padding == 'SAME' else ((h - 1) * s[0] + max(k[0], s[0]), (w - 1) * s[1] + max(k[1], s[1]))
    shape = (2, *size, oc)
    x, of = c.input((2, h, w, ic), sx), c.net.constant('shape', np.array(shape, np.int32))
    weights, biases = c.weights((oc, *k, ic), 0, sx)
    return c.operator('TRANSPOSE_CONV', [of, weights, x, *[biases][:bias]], shape, c.scale(2e-4, 2e-3), 'TransposeConvOptions',
                      strideH=s[0], strideW=s[1], padding=tflite_net.PADDINGS[padding])


def resize_nearest(c):
    step = c.scale(1e-4, 4e-4)
    size = tuple(int(v) for v in c.random.integers(3, 30, 2))
    x, of = c.input((2, 9, 7, 5), step), c.net.constant('size', np.array(size, np.int32))
    return c.operator('RESIZE_NEAREST_NEIGHBOR', [x, of], (2, *size, 5), step, 'ResizeNearestNeighborOptions',
                      halfPixelCenters=bool(c.random.integers(0, 2)))


def requantize(c, middle, low, high):
    """int16 to another type and back."""
    x = c.input(ALL.shape, c.scale(1e-4, 2e-4), ALL)
    zero = 0 if middle == np.int16 else -7
    between = c.tensor('m', ALL.shape, c.scale(low, high), middle, zero)
    c.net.operator('QUANTIZE', [x], [between])
    return c.operator('QUANTIZE', [between], ALL.shape, c.scale(1e-4, 2e-4))


def movement(c):
    """Concat, Transpose, Slice, Pad, MaxPool: the numbers are moved."""
    step = c.scale(1e-4, 4e-4)
    a, b = c.input((1, 8, 6, 5), step), c.input((1, 8, 6, 3), step)
    joined = c.tensor('joined', (1, 8, 6, 8), step)
    c.net.operator('CONCATENATION', [a, b], [joined], 'ConcatenationOptions', axis=3)
    pads = c.net.constant('pads', np.array([[0, 0], [1, 2], [0, 1], [0, 0]], np.int32))
    padded = c.tensor('padded', (1, 11, 7, 8), step)
    c.net.operator('PAD', [joined, pads], [padded], 'PadOptions')
    largest = c.tensor('largest', (1, 10, 6, 8), step)
    c.net.operator('MAX_POOL_2D', [padded], [largest], 'Pool2DOptions', filterHeight=2, filterWidth=2, **window('VALID'))
    order = c.net.constant('order', np.array([0, 3, 1, 2], np.int32))
    return c.operator('TRANSPOSE', [largest, order], (1, 8, 10, 6), step, 'TransposeOptions')


@dataclasses.dataclass
class Case:
    build: object
    arguments: tuple = ()
    fields: dict = dataclasses.field(default_factory=dict)


GENERAL = {'potScaleInt16': False}
CASES = {
    'conv': Case(conv), 'conv_groups': Case(conv, (3,)), 'depthwise': Case(depthwise),
    'depthwise_no_bias': Case(depthwise, (False,)), 'fc': Case(fully_connected),
    'fc_one_scale': Case(fully_connected, (True, True)), 'fc_no_bias': Case(fully_connected, (False,)),
    'fc_no_bias_one_scale': Case(fully_connected, (False, True)),
    'add': Case(pair, ('ADD', 'AddOptions'), GENERAL), 'sub': Case(pair, ('SUB', 'SubOptions'), GENERAL),
    'add_row': Case(pair, ('ADD', 'AddOptions', 'row'), GENERAL),
    'sub_from_row': Case(pair, ('SUB', 'SubOptions', 'row'), GENERAL | {'swapped': True}),
    'add_one': Case(pair, ('ADD', 'AddOptions', 'one'), GENERAL),
    'add_plane': Case(pair, ('ADD', 'AddOptions', 'plane'), GENERAL), 'add_broadcast': Case(broadcast),
    'add_shifted': Case(shifted_pair, ('ADD', 'AddOptions')), 'sub_shifted': Case(shifted_pair, ('SUB', 'SubOptions')),
    'mul': Case(pair, ('MUL', 'MulOptions')), 'mul_row': Case(pair, ('MUL', 'MulOptions', 'row')),
    'average_same': Case(pool, ('AVERAGE_POOL_2D', 'SAME')), 'average_valid': Case(pool, ('AVERAGE_POOL_2D', 'VALID')),
    'max_same': Case(pool, ('MAX_POOL_2D', 'SAME')), 'mean_image': Case(mean, ((1, 2),)),
    'mean_channels': Case(mean, ((3,),)), 'mean_rows': Case(mean, ((1,),)), 'mean_all': Case(mean, ((1, 2, 3),)),
    'maximum': Case(extremum, ('MAXIMUM',)), 'minimum': Case(extremum, ('MINIMUM',)),
    'maximum_row': Case(extremum, ('MAXIMUM', True)), 'minimum_row': Case(extremum, ('MINIMUM', True)),
    'batch_matmul': Case(batch_matmul, (False,)), 'batch_matmul_adjoint': Case(batch_matmul, (True,)),
    'transpose_conv_same': Case(transpose_conv, ('SAME',)), 'transpose_conv_valid': Case(transpose_conv, ('VALID',)),
    'transpose_conv_no_bias': Case(transpose_conv, ('SAME', False)), 'resize_nearest': Case(resize_nearest),
    'reduce_max_image': Case(reduced_extremum, ('REDUCE_MAX', (1, 2))), 'reduce_max_channels': Case(reduced_extremum, ('REDUCE_MAX', (3,))),
    'reduce_prod_rows': Case(product_of_elements, ((1,),)), 'reduce_prod_image': Case(product_of_elements, ((1, 2),)),
    'reduce_prod_channels_first': Case(product_of_elements, ((0, 2),)),
    'reduce_max_rows': Case(reduced_extremum, ('REDUCE_MAX', (1,))), 'reduce_min_image': Case(reduced_extremum, ('REDUCE_MIN', (1, 2))),
    'reduce_min_channels': Case(reduced_extremum, ('REDUCE_MIN', (3,))), 'reduce_min_apart': Case(reduced_extremum, ('REDUCE_MIN', (1, 3))),
    'neg': Case(negation), 'sqrt': Case(square_root), 'rsqrt': Case(inverse_root), 'softmax': Case(softmax), 'movement': Case(movement),
    'requantize': Case(requantize, (np.int16, 1e-4, 2e-4)), 'through_int8': Case(requantize, (np.int8, 2e-2, 5e-2)),
    'relu': Case(own_scales, ('RELU',)), 'relu6': Case(own_scales, ('RELU6',)),
    'leaky_relu': Case(own_scales, ('LEAKY_RELU', 'LeakyReluOptions'), {'alpha': 0.1}),
    'prelu_channels': Case(prelu, ((1, 1, 11),)), 'prelu_elements': Case(prelu, ((9, 7, 11),)),
    'abs': Case(own_scales, ('ABS',)), 'exp': Case(own_scales, ('EXP',)), 'log': Case(own_scales, ('LOG',)),
    'gelu': Case(own_scales, ('GELU', 'GeluOptions')), 'bilinear': Case(bilinear),
    'bilinear_corners': Case(bilinear, (), {'alignCorners': True}), 'bilinear_half': Case(bilinear, (), {'halfPixelCenters': True}),
}


def compare(case, seed, ties, folder):
    """(elements, how many differ) in LiteRT's three ways."""
    chain = Chain(seed, ties)
    content = case.build(chain, *case.arguments, **case.fields)
    (folder / 'net.tflite').write_bytes(content)
    elements = differ = 0
    for profile in litert.WAYS:
        made = litert.load(content, profile)
        for detail in made.get_input_details():
            made.set_tensor(detail['index'], chain.samples[detail['name']])
        made.invoke()
        goal = made.get_tensor(made.get_output_details()[0]['index'])
        pipeline.run('model_deploy', folder / 'net.tflite', '-o', folder / 'net.rshift', '--profile', profile)
        assert not pipeline.f32_commands(folder / 'net.rshift'), profile
        ours = pipeline.infer(folder / 'net.rshift', chain.samples, folder)['out']
        assert ours.shape == goal.shape and ours.dtype == goal.dtype
        assert len(np.unique(goal)) > 1 or goal.size < 50
        elements, differ = elements + goal.size, differ + int((ours != goal).sum())
    return elements, differ


@pytest.mark.parametrize('ties', (False, True), ids=('scales', 'ties'))
@pytest.mark.parametrize('name', CASES)
def test_operator(name, ties, tmp_path, report):
    elements = differ = 0
    for seed in range(ROUNDS):
        found = compare(CASES[name], seed, ties, tmp_path)
        elements, differ = elements + found[0], differ + found[1]
    report(f'16x8 {name}, {"scales that are powers of two" if ties else "random scales"}: {elements} elements, '
           f'{differ} differ')
    assert differ == 0


@pytest.mark.parametrize('code', ('LOGISTIC', 'TANH'))
def test_logistic_and_tanh(code, tmp_path, report):
    """Random scales, and some that are powers of two."""
    elements = differ = 0
    for scale in (*np.random.default_rng(3).uniform(3e-6, 3e-3, 6).astype(np.float32), *(np.float32(2.0 ** -n) for n in (9, 13, 14))):
        found = compare(Case(function, (code, scale, ONE)), 1, False, tmp_path)
        elements, differ = elements + found[0], differ + found[1]
    report(f'16x8 {code}: {elements} elements, {differ} differ')
    assert differ == 0


@pytest.mark.parametrize('code,power', (('LOGISTIC', 12), ('TANH', 11), ('TANH', 12)))
def test_scales_at_which_the_optimised_kernel_has_another_form(code, power, tmp_path, report):
    """On every s16; LiteRT takes scales within a thousandth of a power's logarithm for it."""
    elements = differ = 0
    for factor in (1, 1.0005, 0.9995, 1.002, 0.998):
        found = compare(Case(function, (code, np.float32(factor * 2.0 ** -power), ONE)), 1, False, tmp_path)
        elements, differ = elements + found[0], differ + found[1]
    report(f'16x8 {code} of scale 2^-{power}: {elements} elements, {differ} differ')
    assert differ == 0


def maximum_of_two_scales(c):
    a, b = c.input((4, 9), np.float32(2e-4)), c.input((4, 9), np.float32(3e-4))
    return c.operator('MAXIMUM', [a, b], (4, 9), np.float32(2e-4), 'MaximumMinimumOptions')


@pytest.mark.parametrize('build,why', (
    (maximum_of_two_scales, 'LiteRT compares 16-bit integers without changing their scale'),
    (lambda c: function(c, 'NEG', np.float32(2e-4), np.float32(3e-4)), 'LiteRT negates 16-bit integers without changing their scale'),
    (lambda c: prelu(c, (1, 1, 11), np.int16), 'its slope is not s8 of one scale with zero point 0')),
    ids=('maximum', 'neg', 'prelu'))
def test_what_is_not_computed_in_integers_is_f32_and_named(build, why, tmp_path):
    (tmp_path / 'net.tflite').write_bytes(build(Chain(5)))
    said = pipeline.run('model_deploy', tmp_path / 'net.tflite', '-o', tmp_path / 'net.rshift', '--profile', 'tflite-ref')
    assert why in said
    assert pipeline.f32_commands(tmp_path / 'net.rshift')


@pytest.mark.parametrize('code', ('EQUAL', 'NOT_EQUAL', 'LESS', 'LESS_EQUAL', 'GREATER', 'GREATER_EQUAL'))
def test_comparisons_of_one_scale_are_those_of_litert(code, tmp_path):
    """In F32, whose order is that of the integers."""
    c = Chain(7)
    a, b = (c.input((40, 50), np.float32(2e-4), c.numbers((40, 50)) // 4096 * 4096) for _ in range(2))
    y = c.net.tensor('y', (40, 50), bool)
    c.net.operator(code, [a, b], [y])
    content = c.net.bytes(c.inputs, [y])
    (tmp_path / 'net.tflite').write_bytes(content)
    for profile in litert.WAYS:
        goal = litert.outputs_of(content, profile, c.samples)['y']
        pipeline.run('model_deploy', tmp_path / 'net.tflite', '-o', tmp_path / 'net.rshift', '--profile', profile)
        ours = pipeline.infer(tmp_path / 'net.rshift', c.samples, tmp_path)['y']
        assert 20 < goal.sum() < goal.size - 20 and (ours == goal).all()


def test_other_profiles_give_what_mode_f32_gives(tmp_path):
    c = Chain(6)
    content = fully_connected(c)
    (tmp_path / 'fc.tflite').write_bytes(content)
    found = []
    for how in (['--mode', 'f32'], ['--profile', 'onnxruntime'], ['--profile', 'tflite']):
        said = pipeline.run('model_deploy', tmp_path / 'fc.tflite', '-o', tmp_path / 'fc.rshift', *how)
        assert pipeline.f32_commands(tmp_path / 'fc.rshift'), how
        assert 'f32' in how or 'it reads integers of 16 bits' in said, said
        found.append(pipeline.infer(tmp_path / 'fc.rshift', c.samples, tmp_path)['out'])
    assert all((one == found[0]).all() for one in found)


# Products of many elements are F32 there.
@pytest.mark.parametrize('name', [name for name in CASES if not name.startswith('reduce_prod')])
def test_our_own_profile_has_sixteen_bits_of_its_own(name, tmp_path):
    """Under tpu: integers, two units at most from the numbers in floats."""
    case, found = CASES[name], {}
    for ties in (False, True):
        c = Chain(3, ties)
        (tmp_path / 'net.tflite').write_bytes(case.build(c, *case.arguments, **case.fields))
        for mode in ('symmetric', 'f32'):
            how = ['--mode', 'f32'] if mode == 'f32' else []
            pipeline.run('model_deploy', tmp_path / 'net.tflite', '-o', tmp_path / 'net.rshift', *how)
            assert mode == 'f32' or not pipeline.f32_commands(tmp_path / 'net.rshift')
            found[mode] = pipeline.infer(tmp_path / 'net.rshift', c.samples, tmp_path)['out'].astype(np.float64)
        steps = np.diff(np.unique(found['f32']))
        assert np.abs(found['symmetric'] - found['f32']).max() <= 2.01 * min(steps[steps > 0], default=1)


def test_a_network(tmp_path, report):
    """Convolutions, a residual sum, pools, a mean, a product and a softmax, one behind the other."""
    elements = differ = 0
    for seed in range(ROUNDS):
        c = Chain(seed)
        step = c.scale(1e-4, 2e-4)
        x = c.input((1, 16, 12, 8), step)
        first = c.tensor('first', (1, 16, 12, 8), s1 := c.scale(1e-3, 3e-3))
        c.net.operator('CONV_2D', [x, *c.weights((8, 3, 3, 8), 0, step)], [first], 'Conv2DOptions', **window(act='relu'))
        second = c.tensor('second', (1, 16, 12, 8), s2 := c.scale(2e-3, 4e-3))
        c.net.operator('DEPTHWISE_CONV_2D', [first, *c.weights((1, 3, 3, 8), 3, s1)], [second], 'DepthwiseConv2DOptions',
                       **window(depthMultiplier=1))
        total = c.tensor('total', (1, 16, 12, 8), s3 := c.scale(2e-3, 4e-3))
        c.net.operator('ADD', [first, second], [total], 'AddOptions', potScaleInt16=False)
        small = c.tensor('small', (1, 8, 6, 8), s3)
        c.net.operator('AVERAGE_POOL_2D', [total], [small], 'Pool2DOptions', filterHeight=2, filterWidth=2,
                       **window('VALID', (2, 2)))
        flat = c.tensor('flat', (1, 8), s4 := c.scale(1e-3, 2e-3))
        c.net.operator('MEAN', [small, c.net.constant('axes', np.array([1, 2], np.int32))], [flat], 'ReducerOptions',
                       keepDims=False)
        scores = c.tensor('scores', (1, 10), c.scale(1e-4, 3e-4))
        c.net.operator('FULLY_CONNECTED', [flat, *c.weights((10, 8), 0, s4)], [scores], 'FullyConnectedOptions')
        content = c.operator('SOFTMAX', [scores], (1, 10), ONE, 'SoftmaxOptions', beta=1.0)
        found = compare(Case(lambda chain, made=content, of=c: made_of(chain, made, of)), seed, False, tmp_path)
        elements, differ = elements + found[0], differ + found[1]
    report(f'16x8 network: {elements} elements, {differ} differ')
    assert differ == 0


def test_inputs_and_outputs_of_int16(tmp_path, report):
    """The file's own integers go in and come out."""
    random, net = np.random.default_rng(4), tflite_net.Net()
    shape, step = (1, 9, 7, 6), np.float32(2e-4)
    x, y = net.tensor('x', shape, np.int16, (step, 0)), net.tensor('y', (1, 9, 7, 5), np.int16, (7e-4, 0))
    scales = random.uniform(.002, .02, 5).astype(np.float32)
    w = net.constant('w', random.integers(-127, 128, (5, 3, 3, 6)).astype(np.int8), (scales, 0))
    bias = net.constant('b', random.integers(-10 ** 6, 10 ** 6, 5).astype(np.int64), (scales * step, 0))
    net.operator('CONV_2D', [x, w, bias], [y], 'Conv2DOptions', **window())
    content = net.bytes([x], [y])
    (tmp_path / 'net.tflite').write_bytes(content)
    elements = 0
    for profile in litert.WAYS:
        pipeline.run('model_deploy', tmp_path / 'net.tflite', '-o', tmp_path / 'net.rshift', '--profile', profile)
        assert not pipeline.f32_commands(tmp_path / 'net.rshift')
        for _ in range(4):
            sample = random.integers(-32768, 32768, shape).astype(np.int16)
            made = litert.load(content, profile)
            made.set_tensor(made.get_input_details()[0]['index'], sample)
            made.invoke()
            goal = made.get_tensor(made.get_output_details()[0]['index'])
            ours = pipeline.infer(tmp_path / 'net.rshift', {'x': sample}, tmp_path, '--raw')['y']
            assert ours.dtype == goal.dtype and ours.shape == goal.shape
            assert (ours == goal).all()
            elements += goal.size
    report(f'16x8 int16 in and out: {elements} elements, 0 differ')


def made_of(chain, content, of):
    """A chain whose samples are those of another."""
    chain.samples = of.samples
    return content
