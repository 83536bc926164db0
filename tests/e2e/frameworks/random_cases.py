"""Seeded random cases of each operator: cases_of(operator, type, profile, seed).

Scales make outputs reach the whole range and saturate; half of the Convs and Gemms put their sums
on, or one beside, the ties of the requantization; Add and Mul see all 65,536 pairs of bytes.
"""

import zlib

import numpy as np

from frameworks.case import LIMITS, NUMPY, Case, quant

ONNXRUNTIME = 'onnxruntime'


class Maker:
    """Random numbers of one (operator, type, profile)."""

    def __init__(self, op, kind, profile, seed):
        self.rng = np.random.default_rng([zlib.crc32(f'{op} {kind} {profile}'.encode()), seed])
        self.op, self.kind, self.profile = op, kind, profile
        self.lo, self.hi = LIMITS[kind]

    def integer(self, lo, hi):
        """lo <= n <= hi."""
        return int(self.rng.integers(lo, hi, endpoint=True))

    def pick(self, *choices):
        return choices[self.integer(0, len(choices) - 1)]

    def zero(self):
        return self.pick(self.lo, self.hi, self.integer(self.lo, self.hi), self.integer(self.lo, self.hi))

    def quant(self, low=-2.5, high=0.0):
        return quant(self.kind, 10 ** self.rng.uniform(low, high), self.zero())

    def bytes(self, shape):
        return self.rng.integers(self.lo, self.hi, shape, endpoint=True).astype(NUMPY[self.kind])

    def activation(self, zero):
        """Relu needs no clamp of its own in ONNX Runtime: others run there in float."""
        if self.profile == ONNXRUNTIME:
            return self.pick(None, 'relu') if zero == self.lo else None
        return self.pick(None, 'relu', 'relu6')

    # -- Conv, Depthwise, Gemm ---------------------------------------------------------------------

    def weights(self, shape, scales):
        """(weights, their Quant)."""
        scale = 10 ** self.rng.uniform(-3, -2) * self.rng.uniform(0.3, 3, scales)
        if self.kind == 's8':
            least = -128 if self.profile == ONNXRUNTIME else -127
            w = self.rng.integers(least, 127, shape, endpoint=True).astype(np.int8)
            return w, quant('s8', scale)
        zero = self.pick(0, 128, 255, self.integer(1, 254))
        return self.rng.integers(0, 255, shape, endpoint=True).astype(np.uint8), \
            quant('u8', scale, zero)

    def linear_shapes(self, ties):
        """(input, weights, attributes) of a case of about 200,000 outputs."""
        if ties:  # the bias decides: many channels, a tiny image
            shapes = {'conv': ((1, 5, 5, 4), (4096, 1, 1, 4)), 'fc': ((25, 4), (4096, 4)),
                      'depthwise': ((1, 5, 5, 4096), (1, 1, 1, 4096))}
            return *shapes[self.op], {}
        if self.op in ('fc', 'matmul'):
            depth, width = self.integer(1, 200), self.integer(300, 500)
            return (500, depth), (width, depth) if self.op == 'fc' else (depth, width), {}
        kernel = self.pick((1, 1), (3, 3), (self.integer(1, 5), self.integer(1, 5)))
        attributes = {'stride': (self.integer(1, 2), self.integer(1, 2)), 'padding': 'SAME'}
        if self.integer(0, 2) == 0:
            attributes.update(stride=(1, 1), dilation=(self.integer(1, 2), self.integer(1, 3)))
        if self.profile == ONNXRUNTIME and self.integer(0, 1):
            attributes['padding'] = tuple(self.integer(0, k // 2) for k in kernel * 2)
        elif self.integer(0, 2) == 0:
            attributes['padding'] = 'VALID'
        if self.op == 'depthwise':
            channels = self.integer(1, 70)
            return (2, 64, 61, channels), (1, *kernel, channels), attributes
        depth, groups = self.integer(1, 40), self.pick(1, 1, 2, 3)
        return (2, 48, 45, depth * groups), (self.integer(1, 23) * groups, *kernel, depth), attributes

    def linear(self, ties, per_channel):
        x_shape, w_shape, attributes = self.linear_shapes(ties)
        channels = w_shape[0 if self.op in ('conv', 'fc') else -1]
        x_quant = self.quant()
        w, w_quant = self.weights(w_shape, channels if per_channel else 1)
        taps = w.size // channels
        products = float(x_quant.scale[0]) * np.array(w_quant.scale)
        if ties:
            x = np.full(x_shape, x_quant.zero) + self.rng.integers(-1, 1, x_shape, endpoint=True)
            x = np.clip(x, self.lo, self.hi).astype(NUMPY[self.kind])
            y_scale = float(products.mean()) * 10 ** self.rng.uniform(-1, 5)
        else:
            x = self.bytes(x_shape)
            y_scale = float(products.mean()) * 50 * taps ** 0.5 * self.rng.uniform(0.3, 3)
        y_quant = quant(self.kind, y_scale, self.zero())
        m = np.broadcast_to(products / y_scale, channels)
        if ties:
            goal = self.rng.integers(-270, 270, channels) + 0.5
            bias = np.round(goal / m) + self.rng.integers(-1, 1, channels, endpoint=True)
        else:
            bias = np.round(self.rng.uniform(-100, 100, channels) / m)
        bias = np.clip(bias, -2**30, 2**30).astype(np.int32)
        optional = self.op == 'fc' or self.profile == ONNXRUNTIME  # a LiteRT convolution needs one
        if self.op == 'matmul' or (optional and not ties and self.integer(0, 3) == 0):
            bias = None
        return Case(self.op, [x], [x_quant], y_quant, w, w_quant, bias,
                    activation=self.activation(y_quant.zero), **attributes)

    def batch_matmul(self):
        """Half of the cases: scales of powers of two and short sums, many of them on ties."""
        batch, rows, width = self.integer(1, 4), self.integer(1, 70), self.integer(1, 200)
        if self.integer(0, 1):
            depth, a, b = self.integer(1, 3), quant(self.kind, 0.125, self.zero()), self.zero()
            b = quant(self.kind, 0.0625, b)
            y_scale = 2.0 ** self.integer(-1, 5)
        else:
            depth, a, b = self.pick(64, 197, self.integer(1, 300)), self.quant(), self.quant()
            y_scale = a.scale[0] * b.scale[0] * 80 * depth ** 0.5 * self.rng.uniform(0.3, 3)
        return Case('batch_matmul', [self.bytes((batch, rows, depth)), self.bytes((batch, depth, width))],
                    [a, b], quant(self.kind, y_scale, self.zero()))

    # -- others ------------------------------------------------------------------------------------

    def pairs(self):
        """All pairs of bytes and 13 more: a tail behind any vector.

        One channel: the tail is the same elements in NHWC (LiteRT's) and in NCHW.
        """
        grid = np.arange(self.lo, self.hi + 1).astype(NUMPY[self.kind])
        every = np.stack(np.meshgrid(grid, grid, indexing='ij')).reshape(2, -1)
        return list(np.concatenate([every, self.bytes((2, 13))], 1).reshape(2, 1, 11, 5959, 1))

    def add(self):
        a, b = self.quant(), self.quant()
        if self.integer(0, 1):  # ratios of small integers: many sums near ties
            p, q, r = (self.integer(1, 12) for _ in range(3))
            b = quant(self.kind, a.scale[0] * q / p, b.zero)
            y = quant(self.kind, a.scale[0] * 2 * r / p, self.zero())
        else:
            b = quant(self.kind, a.scale[0] * 10 ** self.rng.uniform(-1.5, 1.5), b.zero)
            y = quant(self.kind, max(a.scale[0], b.scale[0]) * self.rng.uniform(0.5, 2.5), self.zero())
        return Case('add', self.pairs(), [a, b], y, activation=self.activation_alone(y.zero))

    def sub(self):
        case = self.add()
        case.op = 'sub'
        return case

    def mul(self):
        a, b = self.quant(), self.quant()
        factor = 2.0 ** self.integer(3, 8) if self.integer(0, 1) else 10 ** self.rng.uniform(0.5, 2.3)
        y = quant(self.kind, a.scale[0] * b.scale[0] * factor, self.zero())
        return Case('mul', self.pairs(), [a, b], y, activation=self.activation_alone(y.zero))

    def activation_alone(self, zero):
        return None if self.profile == ONNXRUNTIME else self.activation(zero)

    def average_pool(self):
        q = self.quant()
        if self.profile == ONNXRUNTIME:
            y = quant(self.kind, q.scale[0] * 2 ** self.rng.uniform(-1, 1), self.zero())
        else:  # LiteRT's operator knows one scale; a window as large as the image is a global one
            y = q
            if self.integer(0, 3) == 0:
                size = (self.integer(1, 14), self.integer(1, 14))
                return Case('average_pool', [self.bytes((1, *size, 2000))], [q], y, kernel=size,
                            onnx='GlobalAveragePool')
        return Case('average_pool', [self.bytes((1, 50, 49, 24))], [q], y,
                    kernel=(self.integer(1, 7), self.integer(1, 7)),
                    stride=(self.integer(1, 2), self.integer(1, 2)),
                    padding=self.pick('SAME', 'VALID'), activation=self.activation_alone(y.zero))

    def mean(self):
        q = self.quant()
        ratio = 2.0 ** -self.integer(0, 4) if self.integer(0, 1) else self.rng.uniform(0.05, 1.5)
        zero = self.pick(q.zero, self.integer(self.lo, self.hi))
        shape = (1, self.integer(1, 14), self.integer(1, 14), self.integer(1000, 2048))
        return Case('mean', [self.bytes(shape)], [q], quant(self.kind, q.scale[0] * ratio, zero),
                    onnx='GlobalAveragePool' if self.profile == ONNXRUNTIME else 'ReduceMean')

    def leaky_relu(self):
        q, slope = self.quant(), float(np.float32(10 ** self.rng.uniform(-2, 0)))
        ratio = 2.0 ** -self.integer(-1, 3) if self.integer(0, 1) else self.rng.uniform(0.3, 3)
        y = quant(self.kind, q.scale[0] * ratio, self.zero())
        return Case('leaky_relu', [self.all_bytes()], [q], y, alpha=slope)

    def rescaled(self, op):
        """All bytes and 13 more, to another scale."""
        q = self.quant()
        ratio = 2.0 ** self.integer(-3, 3) if self.integer(0, 1) else 10 ** self.rng.uniform(-1, 1)
        x = np.concatenate([self.all_bytes().reshape(-1), self.bytes(13)]).reshape(1, 1, 269, 1)
        return Case(op, [x], [q], quant(self.kind, q.scale[0] * ratio, self.zero()))

    def requantize(self):
        return self.rescaled('requantize')

    def relu(self):
        return self.rescaled('relu')

    def quantize(self):
        """Real numbers on the ties, beside them, and beyond the range."""
        y = self.quant()
        ties = (np.arange(-400, 400) + 0.5) * y.scale[0]
        ties = ties.astype(np.float32)
        x = np.concatenate([ties, np.nextafter(ties, np.float32(np.inf)),
                            np.nextafter(ties, np.float32(-np.inf)),
                            self.rng.uniform(-400, 400, 20000).astype(np.float32) * y.scales[0]])
        return Case('quantize', [x.astype(np.float32).reshape(1, 4, -1, 8)], [], y)

    def all_bytes(self):
        return np.arange(self.lo, self.hi + 1).astype(NUMPY[self.kind]).reshape(1, 16, 16, 1)

    def logistic(self):
        """Of 300 scales the one with an output nearest to a tie."""
        reals = np.arange(self.lo, self.hi + 1)

        def distance(q):
            y = 256 / (1 + np.exp(-(reals - q.zero) * q.scale[0]))
            return np.abs(y - np.floor(y) - 0.5).min()
        return Case('logistic', [self.all_bytes()],
                    [min((self.quant(-3, 0) for _ in range(300)), key=distance)],
                    quant(self.kind, 1 / 256, self.lo))

    def softmax(self):
        """Half of the cases: rows with a probability within 3e-5 steps of a tie."""
        width = self.pick(2, 3, 10, 16, 100, 1001, self.integer(2, 64))
        scale = self.pick(np.log(2) / 4, 0.02, 10 ** self.rng.uniform(-2.3, -0.3))
        x_quant = quant(self.kind, scale, self.zero())
        x = self.bytes((20000 // width, width))
        if self.integer(0, 1):
            many = self.bytes((200000 // width, width))
            e = np.exp((many - many.max(-1, keepdims=True).astype(np.int64)) * x_quant.scale[0])
            y = 256 * e / e.sum(-1, keepdims=True)
            near = (np.abs(y - np.floor(y) - 0.5) < 3e-5).any(-1)
            x = many[near] if near.any() else x
        return Case('softmax', [x], [x_quant], quant(self.kind, 1 / 256, self.lo))

    def concat(self):
        y = self.quant()
        other = y
        if self.profile == ONNXRUNTIME or self.kind == 'u8':
            other = quant(self.kind, y.scale[0] * 2 ** self.rng.uniform(-1, 1), self.zero())
        return Case('concat', [self.bytes((1, 20, 20, 8)), self.bytes((1, 20, 20, 5))], [y, other],
                    y, axis=3)


    def of_floats(self, op):
        """A function of two numbers, that ONNX Runtime computes in float."""
        case = self.add()
        case.op = op
        if op == 'div':
            scale = case.input_quants[0].scale[0] / case.input_quants[1].scale[0] * 10 ** self.rng.uniform(-2, 0)
            case.output_quant = quant(self.kind, scale, self.zero())
        return case


COUNTS = {'batch_matmul': 30,
          'add': 17, 'sub': 4, 'mul': 8, 'relu': 20, 'requantize': 20, 'quantize': 4, 'average_pool': 10, 'mean': 40, 'leaky_relu': 20, 'logistic': 20,
          'softmax': 20, 'concat': 4}


# Beside Sub.
OF_FLOATS = ('div', 'maximum', 'minimum', 'mod', 'prelu')
LINEAR = ('conv', 'depthwise', 'fc', 'matmul')
# The operators of a profile; the others are no integer operators of that framework.
OPERATORS = {'tflite': ('conv', 'depthwise', 'fc', *COUNTS),
             'onnxruntime': ('conv', 'depthwise', 'fc', 'matmul',
                             *(op for op in COUNTS if op not in ('relu', 'requantize')), *OF_FLOATS)}

# Types that LiteRT's kernel does not take.
REFUSED = {('batch_matmul', 'u8')}


def cases_of(op, kind, profile, seed=0):
    """The cases of one operator, one type and one profile."""
    maker = Maker(op, kind, profile, seed)
    if op in OF_FLOATS:
        return [maker.of_floats(op) for _ in range(8)]
    if op not in LINEAR:
        return [getattr(maker, op)() for _ in range(COUNTS[op])]
    grains = (False, True) if kind == 's8' else (False,)
    return [maker.linear(ties and op != 'matmul', grain)
            for grain in grains for ties in (False, True)
            for _ in range(8 // len(grains))]
