"""Random little graphs of the integer operators for test_integer_sweep.py: shapes, attributes and ranges by a seed."""

import numpy as np

from sweep_case import HALF


KINDS = {}


def kind(*names):
    def register(make):
        KINDS.update({name: make for name in names or (make.__name__.replace('_', ' '),)})
        return make
    return register


# --- functions of one element, by the domain they are used on
DOMAINS = {'Sigmoid': (-9, 9), 'Tanh': (-4, 4), 'HardSigmoid': (-4, 4), 'HardSwish': (-5, 5), 'Elu': (-4, 4), 'Selu': (-4, 4), 'Celu': (-4, 4),
           'Softplus': (-8, 8), 'Softsign': (-9, 9), 'Exp': (-6, 3), 'Log': (0.1, 9), 'Sqrt': (0, 9), 'Reciprocal': (0.2, 9), 'Abs': None,
           'Neg': None, 'Floor': (-40, 40), 'Ceil': (-40, 40), 'Round': (-40, 40), 'Erf': (-3, 3), 'Gelu': (-5, 5), 'Mish': (-6, 6),
           'Sin': (-7, 7), 'Cos': (-7, 7), 'Sign': None, 'ThresholdedRelu': (-3, 3), 'Tan': (-1, 1), 'Asin': (-1, 1), 'Acos': (-1, 1),
           'Atan': (-9, 9), 'Sinh': (-3, 3), 'Cosh': (-3, 3), 'Asinh': (-9, 9), 'Acosh': (1, 9), 'Atanh': (-0.9, 0.9), 'LeakyRelu': None,
           'Relu': None}


@kind(*DOMAINS)
def unary(c):
    attributes = {'LeakyRelu': {'alpha': float(c.r.uniform(0.01, 0.9))}, 'Elu': {'alpha': float(c.r.uniform(0.2, 2))},
                  'Gelu': {'approximate': c.pick('none', 'tanh')}, 'ThresholdedRelu': {'alpha': 1.25}}.get(c.name, {})
    domain = DOMAINS[c.name]
    if domain and domain[0] < 0 and domain[1] > 0:
        domain = (domain[0] * c.r.uniform(0.3, 1), domain[1] * c.r.uniform(0.3, 1))
    c.last(c.name, c.input(c.shape(), *(domain or c.range())), **attributes)
    if c.name == 'LeakyRelu':
        c.bound = 0.5 + 1.01  # |v| 2^-8 of a factor of 8 bits


@kind('Silu')
def silu(c):
    x = c.input(c.shape(), -6, 6)
    c.last('Mul', x, c('Sigmoid', x))


@kind('Clip')
def clip(c):
    low, high = c.range()
    a, b = sorted(c.r.uniform(low, high, 2))
    c.last('Clip', c.input(c.shape(), low, high), c.constant(a), c.constant(b + 1e-3 * (high - low)))


@kind('PRelu')
def prelu(c):
    shape = c.image()
    if c.pick(True, False):
        c.last('PRelu', c.input(shape), c.constant(c.uniform(shape[1], 1, 1, low=-0.5, high=1.5)))
        c.bound = 0.5 + 1.01  # 8-bit slopes
    else:
        c.last('PRelu', c.input(shape), c.constant(c.uniform(*shape[1:], low=0, high=1).round(1)))


# --- two operands
def partner(c, shape):
    """A shape that broadcasts with it."""
    other = [c.pick(d, d, 1) for d in shape]
    return other[int(c.r.integers(len(other))) if c.pick(True, False) else 0:]


@kind('Add', 'Sub', 'Mul', 'Max', 'Min')
def binary(c):
    shape = c.shape()
    low, high = c.range()
    near = c.r.uniform(0.3, 3)
    a, b = c.input(shape, low, high), c.input(partner(c, shape), *sorted((near * low, c.pick(-1, 1) * near * high)))
    c.last(c.name, *c.pick((a, b), (b, a)))
    if c.name in ('Add', 'Sub'):
        c.bound = 0.5 + 0.05  # 5.2 at the bits of `cpu`


@kind('Add constant', 'Sub constant', 'Mul constant', 'Max constant', 'Min constant')
def with_constant(c):
    shape, size = c.image(), 10.0 ** c.r.uniform(-2, 2)
    form = c.pick((1,), (shape[1], 1, 1), (1, shape[1], 1, 1))
    k = c.constant(c.uniform(*form, low=-size, high=size))
    x = c.input(shape, -size * c.r.uniform(0, 2), size)
    op = c.name.split()[0]
    c.last(op, *((k, x) if c.pick(True, False) else (x, k)))
    c.bound = 1.5 if op == 'Mul' else 1.0  # a constant of 8 bits is half a unit of its own off


@kind('Div')
def div(c):
    shape = c.shape()
    low, high = c.pick((0.5, 3), (-7, -0.6), (20, 400))
    c.last('Div', c.input(shape), c.input(partner(c, shape), low, high))


@kind('Pow')
def power(c):
    shape = c.shape()
    c.last('Pow', c.input(shape, 0.3, 2), c.input(partner(c, shape), -1, 2))


@kind('Pow constant')
def power_constant(c):
    c.last('Pow', c.input(c.shape(), 0.1, 2), c.constant(c.pick(0.5, 2, 3, -1, 1.7)))


@kind('Mod')
def modulo(c):
    # Where the quotient is next to an integer a last bit decides: dividends below and divisors above 1.
    shape = c.shape()
    c.last('Mod', c.input(shape, 0.1, 0.9), c.input(partner(c, shape), 1.1, 2), fmod=1)


def integers(c, shape, high):
    """Numbers that an operator gives as integers: an input of the model that a comparison reads is compared as it is."""
    return c('Abs', c.input(shape, 0, high))


@kind('Equal', 'Less', 'LessOrEqual', 'Greater', 'GreaterOrEqual')
def comparison(c):
    shape, high = c.shape(), 10.0 ** c.r.uniform(-3, 3)
    x = integers(c, shape, high)
    other = integers(c, partner(c, shape), high * c.r.uniform(0.5, 2)) if c.pick(True, False) else c.constant(c.r.uniform(0, high))
    c.last(c.name, x, other)
    c.bits = True


@kind('Where')
def where(c):
    shape = c.shape()
    low, high = c.range()
    x, b = c.input(shape, low, high), c.input(shape, low / 2, high * 1.5)
    c.last('Where', c('Greater', x, b), *c.pick((x, b), (b, x)))


# --- products
def convolution(c, transposed):
    n, channels, h, w = c.image(least=5)
    groups = c.pick(1, 1, channels)
    out = groups * int(c.r.integers(1, 4)) if groups > 1 else int(c.r.integers(1, 40))
    kernel, dilation = [int(k) for k in c.r.integers(1, 4, 2)], [int(d) for d in c.r.integers(1, 3, 2)]
    strides, pads = [int(s) for s in c.r.integers(1, 3, 2)], [int(p) for p in c.r.integers(0, 2, 4)]
    x = c.input((n, channels, h, w))
    shape = (channels, out // groups, *kernel) if transposed else (out, channels // groups, *kernel)
    if transposed and groups > 1:
        groups, shape = 1, (channels, out, *kernel)  # weights that 8 bits hold exactly lie along one dimension
    weights = c.weights(*shape, axis=1 if transposed else 0)
    c.last('ConvTranspose' if transposed else 'Conv', x, weights, kernel_shape=kernel, dilations=dilation, strides=strides,
           pads=[min(p, k - 1) for p, k in zip(pads, kernel * 2)], group=groups)


@kind('Conv')
def conv(c):
    convolution(c, False)


@kind('ConvTranspose')
def conv_transpose(c):
    convolution(c, True)


@kind('Conv three dimensions')
def conv3d(c):
    channels, out = int(c.r.integers(1, 6)), int(c.r.integers(1, 9))
    w = c.r.integers(-127, 128, (out, channels, 2, 3, 2))
    w[:, 0, :, 0, 0] = 127  # of each slice, which is a convolution by itself
    c.last('Conv', c.input((1, channels, 5, 6, 4)), c.constant(w / 1024), pads=[0, 1, 1, 1, 1, 0])
    c.bound, c.steps = 0.5 + 2 * 0.75, True  # two slices and their sum are rounded


@kind('MatMul')
def matmul(c):
    k, n = int(c.r.integers(1, 70)), int(c.r.integers(1, 40))
    c.last('MatMul', c.input((*c.shape(int(c.r.integers(1, 4))), k)), c.weights(k, n, axis=1))


@kind('Gemm')
def gemm(c):
    m, k, n = (int(d) for d in c.r.integers(1, 40, 3))
    x = c.input((m, k), -1, 1)
    c.last('Gemm', x, c.weights(n, k), c.constant(c.uniform(n)), transB=1)


@kind('MatMul of activations')
def matmul_activations(c):
    m, k, n = (int(d) for d in c.r.integers(1, 30, 3))
    batch = c.shape(int(c.r.integers(1, 3)), most=3)
    y = [c.input((*batch, m, k)), c.input((*c.pick(batch, batch[1:]), k, n))]
    if c.pick(True, False):
        c.last('MatMul', *y)
    else:
        c.last('Mul', c('MatMul', *y), c.constant(k ** -0.5))


# --- normalizations
@kind('Softmax', 'LogSoftmax')
def softmax(c):
    shape = c.shape(int(c.r.integers(1, 5)), most=c.pick(9, 40))
    size = 10.0 ** c.r.uniform(-1, 1.3)
    c.last(c.name, c.input(shape, -size, size * c.r.uniform(0.1, 1)), axis=int(c.r.integers(-len(shape), len(shape))))


@kind('LayerNormalization')
def layer_norm(c):
    shape = c.shape(int(c.r.integers(2, 5)), most=20)
    axis = int(c.r.integers(1, len(shape)))
    shape = (*shape[:-1], shape[-1] + 3)
    parts = [c.constant(c.uniform(*shape[axis:], low=-2, high=3)) for _ in range(c.pick(1, 2))]
    c.last('LayerNormalization', c.input(shape), *parts, axis=axis, epsilon=c.pick(1e-5, 1e-3))


@kind('InstanceNormalization')
def instance_norm(c):
    shape = c.image(least=3)
    c.last('InstanceNormalization', c.input(shape), *[c.constant(c.uniform(shape[1], high=2)) for _ in range(2)])


@kind('GroupNormalization')
def group_norm(c):
    n, groups, h, w = c.image(least=3)
    rows = c('Reshape', c.input((n, 2 * groups, h, w)), c.ints(n, groups, -1))
    ones, zeros = c.constant(np.ones(groups)), c.constant(np.zeros(groups))
    c.last('Reshape', c('InstanceNormalization', rows, ones, zeros), c.ints(n, 2 * groups, h, w))


@kind('LpNormalization')
def lp_norm(c):
    shape = c.shape(int(c.r.integers(1, 4)))
    c.last('LpNormalization', c.input((*shape, 12)), axis=-1, p=2)


@kind('RMSNorm')
def rms_norm(c):
    shape = (*c.shape(2), int(c.r.integers(4, 40)))
    x = c.input(shape)
    mean = c('ReduceMean', c('Pow', x, c.constant(2.0)), c.ints(-1), keepdims=1)
    c.last('Mul', c('Div', x, c('Sqrt', c('Add', mean, c.constant(1e-5)))), c.constant(c.uniform(shape[-1], low=-1, high=2)))


@kind('BatchNormalization')
def batch_norm(c):
    shape = c.image()
    parts = [c.uniform(shape[1], low=-2, high=2) for _ in range(3)] + [c.uniform(shape[1], low=0.2, high=3)]
    c.last('BatchNormalization', c.input(shape, -2, 3), *[c.constant(p) for p in parts])
    c.bound, c.steps = 2.5, True  # alone it is a product and a sum, with constants of 8 bits (NUMERICS.md 5.4)


# --- reductions and pools
@kind('ReduceSum', 'ReduceMean', 'ReduceMax', 'ReduceMin', 'ReduceL1')
def reduction(c):
    shape = c.shape(int(c.r.integers(1, 5)))
    axes = [int(a) for a in c.r.permutation(len(shape))[:int(c.r.integers(1, len(shape) + 1))]]
    c.last(c.name, c.input(shape), c.ints(*axes), keepdims=c.pick(0, 1))


@kind('ArgMax', 'ArgMin')
def arg(c):
    shape = c.shape(int(c.r.integers(1, 5)))
    c.last(c.name, integers(c, shape, 3), axis=int(c.r.integers(len(shape))), keepdims=c.pick(0, 1))
    c.bits = True


@kind('MaxPool', 'AveragePool')
def pool(c):
    kernel = [int(k) for k in c.r.integers(1, 5, 2)]
    pads = [int(c.r.integers(0, k // 2 + 1)) for k in kernel * 2]
    extra = {'count_include_pad': c.pick(0, 1)} if c.name == 'AveragePool' else {}
    c.last(c.name, c.input(c.image(least=5)), kernel_shape=kernel, strides=[int(s) for s in c.r.integers(1, 4, 2)], pads=pads,
           ceil_mode=c.pick(0, 1), **extra)


@kind('GlobalAveragePool', 'GlobalMaxPool')
def global_pool(c):
    c.last(c.name, c.input(c.image()))


@kind('AveragePool three dimensions', 'MaxPool three dimensions')
def pool3d(c):
    c.last(c.name.split()[0], c.input((1, 3, 5, 6, 4)), kernel_shape=[2, 3, 2], strides=[1, 2, 2])
    c.bound, c.steps = 1.3 if c.name.startswith('Average') else HALF, True  # over height and width, then over depth


# --- images
@kind('Resize linear', 'Resize cubic', 'Resize nearest')
def resize(c):
    shape, mode = c.image(least=2), c.name.split()[1]
    sizes = c.ints(*shape[:2], *(int(s) for s in c.r.integers(1, 22, 2)))
    coordinates = c.pick('half_pixel', 'pytorch_half_pixel', 'align_corners', 'asymmetric')
    extra = {'linear': {}, 'cubic': {'cubic_coeff_a': c.pick(-0.75, -0.5)}, 'nearest': {'nearest_mode': c.pick('floor', 'ceil')}}[mode]
    if mode == 'nearest':
        # Any other place lies next to the middle between two elements: a last bit decides.
        coordinates, sizes = 'asymmetric', c.ints(*shape[:2], 2 * shape[2], 4 * shape[3])
    c.last('Resize', c.input(shape), '', '', sizes, mode=mode, coordinate_transformation_mode=coordinates, **extra)
    c.bound = {'linear': 0.63, 'cubic': 0.5 + 0.3 * 3, 'nearest': 0}[mode] + 0.01


# --- movements
@kind('Transpose')
def transpose(c):
    rank = int(c.r.integers(2, 5))
    shape, perm = [d + 1 for d in c.shape(rank)], np.roll(np.arange(rank), c.r.integers(1, rank))
    c.last('Transpose', c.input(shape), perm=[int(p) for p in perm])


@kind('Concat')
def concat(c):
    shape = c.shape(int(c.r.integers(2, 5)))
    axis, low, high = int(c.r.integers(len(shape))), *c.range()
    parts = [c.input([int(c.r.integers(1, 6)) if i == axis else d for i, d in enumerate(shape)], low * f, high * f)
             for f in c.r.uniform(0.1, 2, int(c.r.integers(2, 4)))]
    c.last('Concat', *parts, axis=axis)


@kind('Slice')
def slices(c):
    shape = [d + 2 for d in c.shape(int(c.r.integers(1, 5)))]
    starts = [int(c.r.integers(1, d)) for d in shape]
    c.last('Slice', c.input(shape), c.ints(*starts), c.ints(*[1000] * len(shape)), c.ints(*range(len(shape))),
           c.ints(*[int(s) for s in c.r.integers(1, 3, len(shape))]))


@kind('Pad')
def pad(c):
    shape = c.shape(int(c.r.integers(1, 5)))
    low, high = c.range()
    c.last('Pad', c.input(shape, low, high), c.ints(*[int(p) for p in c.r.integers(0, 3, 2 * len(shape))]),
           c.constant(c.r.uniform(low, high)))


@kind('Tile', 'Expand', 'Gather', 'DepthToSpace', 'SpaceToDepth', 'Reshape')
def movement(c):
    if c.name == 'DepthToSpace':
        return c.last(c.name, c.input((1, 4 * int(c.r.integers(1, 5)), 3, 5)), blocksize=2, mode=c.pick('DCR', 'CRD'))
    if c.name == 'SpaceToDepth':
        return c.last(c.name, c.input((1, int(c.r.integers(1, 9)), 4, 6)), blocksize=2)
    shape = c.shape(int(c.r.integers(2, 5)))
    if c.name == 'Reshape':
        return c.last(c.name, c.input(shape), c.ints(-1))
    if c.name == 'Gather':
        axis = int(c.r.integers(len(shape)))
        return c.last(c.name, c.input(shape), c.constant(c.r.integers(shape[axis], size=c.pick((3,), (2, 2))), np.int64), axis=axis)
    if c.name == 'Tile':
        return c.last(c.name, c.input(shape), c.ints(*[int(t) for t in c.r.integers(2, 4, len(shape))]))
    shape = (1, *(c.pick(1, d) for d in shape[1:]))
    return c.last(c.name, c.input(shape), c.ints(*[d if d > 1 else int(c.r.integers(2, 5)) for d in shape]))


# Behind all others, whose numbers stay what they are.
@kind('ReduceL2', 'ReduceSumSquare')
def reduction_of_squares(c):
    reduction(c)
