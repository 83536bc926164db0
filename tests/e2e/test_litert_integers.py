"""Operators that LiteRT computes in int8, out of .tflite files: integers in every tflite profile, all bytes LiteRT's.

Random shapes, axes, scales and zero points (the seed is printed), half of the factors powers of two: many results on
ties. One file holds every case of an operator.
"""

import numpy as np
import pytest

pytest.importorskip('ai_edge_litert', reason='ai-edge-litert is not installed: LiteRT is not compared')

import pipeline  # noqa: E402
from frameworks import litert, tflite_net  # noqa: E402

SEED, CASES = 20261124, 16
# The optimised sum is one of floats: our programs leave it F32, and agree with it but next to ties. The reference
# sum of int8 is broken: -128 everywhere.
LEFT = {('SUM', 'tflite-ruy'), ('SUM', 'tflite-ref')}


class Sweep:
    """The cases of one operator, side by side."""

    def __init__(self, code):
        self.rng = np.random.default_rng([SEED, *code.encode()])
        self.net, self.samples, self.outputs, self.cases = tflite_net.Net(), {}, [], 0

    def integer(self, lo, hi):
        return int(self.rng.integers(lo, hi, endpoint=True))

    def quant(self):
        return float(np.float32(10 ** self.rng.uniform(-2.5, 0))), self.integer(-128, 127)

    def factor(self):
        """Of two scales."""
        return 2.0 ** self.integer(-2, 2) if self.integer(0, 1) else float(self.rng.uniform(0.2, 3))

    def scaled(self, quant, factor):
        return float(np.float32(quant[0] * factor)), self.integer(-128, 127)

    def bytes(self, shape):
        return self.rng.integers(-128, 127, shape, endpoint=True).astype(np.int8)

    def input(self, data, quant=None):
        name = f'x{len(self.samples)}'
        self.samples[name] = data
        return self.net.tensor(name, data.shape, data.dtype, quant)

    def add(self, code, inputs, shape, quant, options=None, **fields):
        y = self.net.tensor(f'y{self.cases}', shape, np.int8, quant)
        self.net.operator(code, inputs, [y], options, **fields)
        self.outputs.append(y)
        self.cases += 1

    def content(self):
        return self.net.bytes([i for i, t in enumerate(self.net.tensors) if t.name.startswith('x')], self.outputs)


def shape_of(sweep, rank):
    return tuple(sweep.integer(1, 9 if d < rank - 1 else 40) for d in range(rank))


def reduction(sweep, code):
    rank = sweep.integer(2, 4)
    shape, axes = shape_of(sweep, rank), sorted(sweep.rng.permutation(rank)[:sweep.integer(1, rank - 1)])
    axes = [int(a) for a in axes]
    quant = sweep.quant()
    keep = bool(sweep.integer(0, 1)) or axes == [1, 2]
    count = int(np.prod([shape[a] for a in axes]))
    result = quant if code.startswith('REDUCE') else sweep.scaled(quant, sweep.factor() * (count if code == 'SUM' else 1))
    y = tuple(1 if d in axes else s for d, s in enumerate(shape) if keep or d not in axes)
    sweep.add(code, [sweep.input(sweep.bytes(shape), quant), sweep.net.constant(f'axes{sweep.cases}', np.array(axes, np.int32))],
              y, result, 'ReducerOptions', keepDims=keep)


def product_of_elements(sweep, code):
    """Up to 12 factors, to a scale at which partial products stay within 32 bits: LiteRT defines no others."""
    shape, axes = tuple(sweep.integer(2, 4) for _ in range(3)) + (sweep.integer(1, 40),), [[1], [1, 2], [0, 1]][sweep.integer(0, 2)]
    quant, count = sweep.quant(), int(np.prod([shape[a] for a in axes]))
    largest = (float(quant[0]) * 255) ** count
    result = (float(np.float32(largest / 255 * sweep.rng.uniform(.005, 1.5))), sweep.integer(-128, 127))
    y = tuple(1 if d in axes else s for d, s in enumerate(shape))
    sweep.add(code, [sweep.input(sweep.bytes(shape), quant), sweep.net.constant(f'axes{sweep.cases}', np.array(axes, np.int32))],
              y, result, 'ReducerOptions', keepDims=True)


def extremum(sweep, code):
    shape, quant = shape_of(sweep, 4), sweep.quant()
    other = shape if sweep.integer(0, 1) else (1, 1, 1, shape[3])
    sweep.add(code, [sweep.input(sweep.bytes(s), quant) for s in (shape, other)], shape, quant, 'MaximumMinimumOptions')


def prelu(sweep, code):
    shape, quant, slope = shape_of(sweep, 4), sweep.quant(), sweep.quant()
    alpha = sweep.net.constant(f'slope{sweep.cases}', sweep.bytes((1, 1, shape[3] if sweep.integer(0, 3) else 1)), slope)
    sweep.add(code, [sweep.input(sweep.bytes(shape), quant), alpha], shape, sweep.scaled(quant, sweep.factor()))


def product(sweep, code):
    batch, m, k, n = (sweep.integer(1, hi) for hi in (3, 20, 90, 70))
    a, b = sweep.quant(), sweep.quant()
    swaps = bool(sweep.integer(0, 1))
    right = (batch, n, k) if swaps else (batch, k, n)
    y = sweep.scaled(a, b[0] * sweep.factor() * 40 * k ** 0.5)
    sweep.add(code, [sweep.input(sweep.bytes((batch, m, k)), a), sweep.input(sweep.bytes(right), b)],
              (batch, m, n), y, 'BatchMatMulOptions', adjX=False, adjY=swaps)


def select(sweep, code):
    shape, quant = shape_of(sweep, 4), sweep.quant()
    condition = sweep.rng.integers(0, 2, shape).astype(bool)
    sweep.add(code, [sweep.input(condition), *(sweep.input(sweep.bytes(shape), quant) for _ in range(2))], shape, quant)


def l2_norm(sweep, code):
    """Rows of zeros and short ones among them."""
    shape, (scale, zero) = shape_of(sweep, sweep.integer(2, 4)), sweep.quant()
    data = sweep.bytes(shape)
    if sweep.integer(0, 1):
        near = zero + (sweep.rng.random(shape) < 0.2)
        rows = sweep.rng.random(shape[:-1]) < 0.5
        data[rows] = np.clip(near, -128, 127)[rows]
    sweep.add(code, [sweep.input(data, (scale, zero))], shape, (1 / 128, 0), 'L2NormOptions')


def log_softmax(sweep, code):
    """Rows of many sizes, of numbers near each other too; scales from 0.003 to 1."""
    shape, quant = (sweep.integer(1, 9), sweep.integer(1, [3, 40, 1500][sweep.cases % 3])), sweep.quant()
    data = sweep.bytes(shape) if sweep.integer(0, 1) else np.clip(sweep.rng.normal(20, 25, shape), -128, 127).astype(np.int8)
    sweep.add(code, [sweep.input(data, quant)], shape, (1 / 16, 127), 'LogSoftmaxOptions')


def squared_difference(sweep, code):
    """Two activations, or one and a constant; a row may be broadcast."""
    shape, a, b = shape_of(sweep, 4), sweep.quant(), sweep.quant()
    b = a if sweep.integer(0, 3) == 0 else b
    other = sweep.bytes(shape if sweep.integer(0, 1) else shape[3:])
    operands = [sweep.input(sweep.bytes(shape), a),
                sweep.input(other, b) if sweep.integer(0, 2) else sweep.net.constant(f'k{sweep.cases}', other, b)]
    if sweep.integer(0, 1):
        operands.reverse()
    scale = max(a[0], b[0]) ** 2 * 10 ** sweep.rng.uniform(0, 3)
    sweep.add(code, operands, shape, (float(np.float32(scale)), sweep.integer(-128, 127)), 'SquaredDifferenceOptions')


def inverse_root(sweep, code):
    """All bytes from the zero point on: LiteRT stops at a number below 0."""
    scale, zero = float(np.float32(10 ** sweep.rng.uniform(-2.5, 0))), sweep.integer(-128, 100)
    if sweep.cases % 3 == 0:
        scale = 2.0 ** sweep.integer(-8, 0)
    data = np.arange(zero, 128).astype(np.int8)
    result = float(np.float32(sweep.rng.uniform(.2, 4) / (255 * scale ** .5)))
    sweep.add(code, [sweep.input(data, (scale, zero))], data.shape, (result, sweep.integer(-128, 0)))


OPERATORS = {'RSQRT': inverse_root, 'L2_NORMALIZATION': l2_norm, 'LOG_SOFTMAX': log_softmax, 'SQUARED_DIFFERENCE': squared_difference,
             'BATCH_MATMUL': product, 'MEAN': reduction, 'SUM': reduction, 'REDUCE_MAX': reduction, 'REDUCE_MIN': reduction, 'REDUCE_PROD': product_of_elements,
             'MAXIMUM': extremum, 'MINIMUM': extremum, 'PRELU': prelu, 'SELECT_V2': select}


def sweep_of(code):
    sweep = Sweep(code)
    for _ in range(CASES):
        OPERATORS[code](sweep, code)
    return sweep.content(), sweep.samples


@pytest.mark.parametrize('code', OPERATORS)
def test_operator(code, tmp_path, report):
    content, samples = sweep_of(code)
    model, program = tmp_path / 'net.tflite', tmp_path / 'net.rshift'
    model.write_bytes(content)
    for profile in litert.WAYS:
        if (code, profile) in LEFT:
            continue
        pipeline.run('model_deploy', model, '--profile', profile, '-o', program)
        left = pipeline.f32_commands(program)
        left.pop('where', None)  # it chooses bytes here
        assert not left, (profile, left)
        theirs = litert.outputs_of(content, profile, samples)
        ours = pipeline.infer(program, samples, tmp_path, '--raw')
        differ = {name: int((ours[name] != goal).sum()) for name, goal in theirs.items()}
        count = sum(goal.size for goal in theirs.values())
        report(f'{profile:15} {code:13} seed {SEED}: {count:>7,} bytes of {len(theirs)} cases, {sum(differ.values())} differ')
        assert not any(differ.values()), (profile, differ)


@pytest.mark.parametrize('profile', litert.WAYS)
def test_a_mean_over_width_and_channels_is_none_over_an_image(profile, tmp_path):
    """Axes 2 and 3 of NHWC: not the height and width of NCHW, for which LiteRT's kernels have a form of their own."""
    sweep = Sweep('MEAN')
    quant = sweep.quant()
    sweep.add('MEAN', [sweep.input(sweep.bytes((2, 300, 2, 2)), quant), sweep.net.constant('axes', np.array([2, 3], np.int32))],
              (2, 300, 1, 1), quant, 'ReducerOptions', keepDims=True)
    model, program = tmp_path / 'net.tflite', tmp_path / 'net.rshift'
    model.write_bytes(sweep.content())
    pipeline.run('model_deploy', model, '--profile', profile, '-o', program)
    ours = pipeline.infer(program, sweep.samples, tmp_path, '--raw')
    for name, goal in litert.outputs_of(sweep.content(), profile, sweep.samples).items():
        np.testing.assert_array_equal(ours[name], goal)
