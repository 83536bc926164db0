"""Operators of .tflite files that make or read booleans, integers and constants, against LiteRT."""

import numpy as np
import pytest

pytest.importorskip('ai_edge_litert', reason='ai-edge-litert is not installed: LiteRT is not compared')

from frameworks import litert, tflite_net  # noqa: E402
from frameworks.ours import outputs_of  # noqa: E402


def ours_of(content, samples, folder):
    return outputs_of(content, samples, folder, '--mode', 'f32')


def check(net, inputs, outputs, samples, folder):
    content = net.bytes(inputs, outputs)
    goal, ours = litert.outputs_of(content, 'tflite-ref', samples), ours_of(content, samples, folder)
    assert goal.keys() == ours.keys()
    for key, value in goal.items():
        assert ours[key].shape == value.shape and (ours[key] == value).all(), (key, ours[key], value)


class Values(tflite_net.Net):
    """x: floats, the input of the file."""

    def __init__(self, *shape, seed=0):
        super().__init__()
        self.x = self.tensor('x', shape, np.float32)
        self.samples = {'x': np.round(np.random.default_rng(seed).normal(size=shape) * 2).astype(np.float32)}

    def made(self, code, inputs, shape, kind, options=None, **fields):
        y = self.tensor(f't{len(self.tensors)}', shape, kind)
        self.operator(code, inputs, [y], options, **fields)
        return y

    def cast(self, x, shape, kind):
        return self.made('CAST', [x], shape, kind, 'CastOptions')

    def above(self, number, shape):
        """Where x is greater than the number."""
        return self.made('GREATER', [self.x, self.constant(f'c{number}', np.float32(number))], shape, bool, 'GreaterOptions')

    def check(self, outputs, folder):
        check(self, [self.x], outputs, self.samples, folder)


@pytest.mark.parametrize('code', ['LOGICAL_AND', 'LOGICAL_OR', 'LOGICAL_NOT'])
def test_logic(code, tmp_path):
    shape = (3, 4, 5)
    net = Values(*shape)
    inputs = [net.above(0, shape), net.above(1, shape)][:1 if code == 'LOGICAL_NOT' else 2]
    options = {'LOGICAL_AND': 'LogicalAndOptions', 'LOGICAL_OR': 'LogicalOrOptions', 'LOGICAL_NOT': 'LogicalNotOptions'}
    y = net.made(code, inputs, shape, bool, options[code])
    net.check([net.cast(y, shape, np.float32), y], tmp_path)


@pytest.mark.parametrize('axes, shape', [([1], (3, 5)), ([0, 2], (4,)), ([-1], (3, 4))])
@pytest.mark.parametrize('keeps', [False, True])
@pytest.mark.parametrize('code', ['REDUCE_ANY', 'REDUCE_ALL'])
def test_any_and_all(code, keeps, axes, shape, tmp_path):
    whole = (3, 4, 5)
    net = Values(*whole, seed=3)
    kept = [1 if d in [a % 3 for a in axes] else n for d, n in enumerate(whole)]
    y = net.made(code, [net.above(-2 if code == 'REDUCE_ALL' else 2, whole), net.constant('axes', np.array(axes, np.int32))],
                 kept if keeps else shape, bool, 'ReducerOptions', keepDims=keeps)
    net.check([y], tmp_path)


@pytest.mark.parametrize('kind', [np.int32, np.int64])
@pytest.mark.parametrize('code', ['SUM', 'REDUCE_MAX', 'REDUCE_MIN', 'REDUCE_PROD'])
def test_reductions_of_integers(code, kind, tmp_path):
    net = Values(2, 3, 4, 5, seed=4)
    whole = net.cast(net.x, (2, 3, 4, 5), kind)
    outs = []
    for axes, shape in (([1, 2], (2, 5)), ([3], (2, 3, 4)), ([0], (3, 4, 5))):
        axes = net.constant(f'axes{len(net.tensors)}', np.array(axes, np.int32))
        outs.append(net.made(code, [whole, axes], shape, kind, 'ReducerOptions', keepDims=False))
    net.check(outs, tmp_path)


def test_select(tmp_path):
    net = Values(4, 5)
    other = net.constant('other', np.arange(20, dtype=np.float32).reshape(4, 5))
    y = net.made('SELECT', [net.above(0, (4, 5)), net.x, other], (4, 5), np.float32, 'SelectOptions')
    rows = net.constant('rows', np.array([True, False, False, True]))  # one for each row
    z = net.made('SELECT', [rows, net.x, other], (4, 5), np.float32, 'SelectOptions')
    net.check([y, z], tmp_path)


def test_signs_and_bounds(tmp_path):
    net = Values(4, 5)
    sign = net.made('SIGN', [net.x], (4, 5), np.float32, 'SignOptions')
    unit = net.made('RELU_0_TO_1', [net.x], (4, 5), np.float32)
    zeros = net.made('ZEROS_LIKE', [net.x], (4, 5), np.float32, 'ZerosLikeOptions')
    net.check([sign, unit, net.made('ADD', [zeros, net.x], (4, 5), np.float32, 'AddOptions')], tmp_path)


@pytest.mark.parametrize('k', [1, 3, 6])
def test_the_greatest(k, tmp_path):
    net = Values(2, 3, 6)
    net.samples['x'] = np.random.default_rng(1).permutation(36).astype(np.float32).reshape(2, 3, 6)
    values, places = net.tensor('values', (2, 3, k), np.float32), net.tensor('places', (2, 3, k), np.int32)
    net.operator('TOPK_V2', [net.x, net.constant('k', np.int32(k))], [values, places], 'TopKV2Options')
    net.check([values, places], tmp_path)


@pytest.mark.parametrize('axis', [-1, 0, 1])
@pytest.mark.parametrize('kind', [np.int32, np.int64])
def test_one_hot_has_no_place_for_negative_numbers(kind, axis, tmp_path):
    net = Values(2, 3)
    net.samples = {'x': np.float32([[0, -1, 4], [5, -5, 2]])}
    shape = [2, 3]
    shape.insert(axis if axis >= 0 else 2, 5)
    depth, on, off = (net.constant(f'c{i}', c) for i, c in enumerate((np.int32(5), np.float32(2), np.float32(-1))))
    at = net.cast(net.x, (2, 3), kind)
    net.check([net.made('ONE_HOT', [at, depth, on, off], shape, np.float32, 'OneHotOptions', axis=axis)], tmp_path)


def test_rows_of_a_table(tmp_path):
    net = Values(3)
    net.samples = {'x': np.float32([4, 0, 2])}
    table = net.constant('table', np.random.default_rng(2).normal(size=(5, 6)).astype(np.float32))
    net.check([net.made('EMBEDDING_LOOKUP', [net.cast(net.x, (3,), np.int32), table], (3, 6), np.float32)], tmp_path)


def test_constants_that_operators_make(tmp_path):
    net = Values(3, 4)
    fill = net.made('FILL', [net.constant('dims', np.array([3, 4], np.int32)), net.constant('value', np.float32(1.5))], (3, 4), np.float32, 'FillOptions')
    first, limit, step = (net.constant(f'r{i}', np.int32(v)) for i, v in enumerate((2, 10, 2)))
    ramp = net.cast(net.made('RANGE', [first, limit, step], (4,), np.int32, 'RangeOptions'), (4,), np.float32)
    rank = net.cast(net.made('RANK', [net.x], (), np.int32, 'RankOptions'), (), np.float32)
    y = net.x
    for other in (fill, ramp, rank):
        y = net.made('ADD', [y, other], (3, 4), np.float32, 'AddOptions')
    net.check([y], tmp_path)


def test_a_constant_may_be_an_output(tmp_path):
    net = tflite_net.Net()
    x, y = net.tensor('x', (1, 4), np.float32), net.tensor('y', (1, 4), np.float32)
    anchors = net.constant('anchors', np.arange(6, dtype=np.float32).reshape(2, 3))
    net.operator('RELU', [x], [y])
    content, samples = net.bytes([x], [y, anchors]), {'x': np.float32([[-1, 2, -3, 4]])}
    goal = litert.outputs_of(content, 'tflite-ref', samples)
    ours = ours_of(content, samples, tmp_path)
    assert ours.keys() == goal.keys() == {'y', 'anchors'}
    assert all((ours[key] == goal[key]).all() for key in goal)
