"""Operators of StableHLO in .tflite files, as litert-torch writes pooling, index_put and transposed convolutions of volumes.

Windows and scatters are compared with LiteRT. It has no kernel for STABLEHLO_CONVOLUTION, which TensorFlow's own converter
leaves behind: that one is compared with its definition in numpy.
"""

import itertools

import numpy as np
import pytest

pytest.importorskip('ai_edge_litert', reason='ai-edge-litert is not installed: LiteRT is not compared')

import pipeline  # noqa: E402
from frameworks import litert, ours, tflite_net  # noqa: E402

INFINITY = float('inf')
START = {'ADD': [0.0, 1.5], 'MAXIMUM': [-INFINITY, -3.4028235e38, 0.25], 'MINIMUM': [INFINITY, -0.25]}


def ours_of(content, samples, folder):
    return ours.outputs_of(content, samples, folder, '--mode', 'f32')['y']


def reduce_window(generator):
    """A file and its sample: a window over up to 3 of up to 5 dimensions, wherever they stand."""
    net = tflite_net.Net()
    rank = int(generator.integers(1, 6))
    moved = generator.permutation(rank)[:generator.integers(1, min(rank, 3) + 1)]
    size, strides, dilations = (np.ones(rank, int) for _ in range(3))
    padding = np.zeros((rank, 2), int)
    shape = generator.integers(1, 5, rank)
    for d in moved:
        size[d], strides[d], dilations[d] = generator.integers(1, 4), generator.integers(1, 4), generator.integers(1, 3)
        padding[d] = generator.integers(0, size[d], 2)
        shape[d] = generator.integers(1, 5) + dilations[d] * size[d]
    reach = dilations * (size - 1) + 1
    kind = str(generator.choice(list(START)))
    start = float(generator.choice(START[kind]))
    if kind == 'ADD':
        padding[:] = padding if start == 0 else 0
    result = (shape + padding.sum(1) - reach) // strides + 1
    x, y = net.tensor('x', shape, np.float32), net.tensor('y', result, np.float32)
    first = net.constant('start', np.float32(start))
    net.operator('STABLEHLO_REDUCE_WINDOW', [x, first], [y], 'StablehloReduceWindowOptions', windowDimensions=size.tolist(),
                 windowStrides=strides.tolist(), baseDilations=[1] * rank, windowDilations=dilations.tolist(),
                 padding=padding.ravel().tolist(), bodySubgraphIndex=net.body(kind))
    return net.bytes([x], [y]), {'x': generator.normal(size=shape).astype(np.float32)}


@pytest.mark.parametrize('seed', range(60))
def test_reduce_window(seed, tmp_path):
    content, samples = reduce_window(np.random.default_rng(seed))
    goal = litert.outputs_of(content, 'tflite-ref', samples)['y']
    np.testing.assert_allclose(ours_of(content, samples, tmp_path), goal, rtol=1e-5, atol=1e-5)


def scatter(generator):
    """A file and its sample: whole slices of x at places that some of its dimensions have."""
    net = tflite_net.Net()
    rank = int(generator.integers(1, 5))
    shape = generator.integers(2, 6, rank)
    order = generator.permutation(rank)
    named = order[:generator.integers(1, rank + 1)]
    whole = sorted(set(range(rank)) - set(named.tolist()))
    kind = [None, 'ADD', 'MUL', 'MAXIMUM', 'MINIMUM'][generator.integers(5)]
    # Each place once where the last update would win.
    count = int(generator.integers(1, 5))
    places = np.stack([generator.integers(0, shape[d], count) for d in named], 1)
    if kind is None:
        places = np.unique(places, axis=0)
    scattered = (len(places),)
    before = int(generator.integers(0, len(whole) + 1))  # where among the windows the places stand
    windows = [i if i < before else i + 1 for i in range(len(whole))]
    updates = [int(shape[d]) for d in whole[:before]] + list(scattered) + [int(shape[d]) for d in whole[before:]]
    x, u = net.tensor('x', shape, np.float32), net.tensor('u', updates, np.float32)
    indices = net.constant('places', places.astype(np.int32))
    y = net.tensor('y', shape, np.float32)
    net.operator('STABLEHLO_SCATTER', [x, indices, u], [y], 'StablehloScatterOptions', updateWindowDims=windows,
                 insertedWindowDims=sorted(named.tolist()), scatterDimsToOperandDims=named.tolist(), indexVectorDim=1,
                 updateComputationSubgraphIndex=net.body(kind))
    samples = {'x': generator.normal(size=shape).astype(np.float32), 'u': generator.normal(size=updates).astype(np.float32)}
    goal = samples['x'].copy()
    ways = {None: None, 'ADD': np.add, 'MUL': np.multiply, 'MAXIMUM': np.maximum, 'MINIMUM': np.minimum}
    rows = np.moveaxis(samples['u'], before, 0)
    for place, row in zip(places, rows):
        where = [slice(None)] * rank
        for d, i in zip(named, place):
            where[d] = i
        where = tuple(where)
        goal[where] = row if kind is None else ways[kind](goal[where], row)
    return net.bytes([x, u], [y]), samples, goal


@pytest.mark.parametrize('seed', range(40))
def test_scatter(seed, tmp_path):
    content, samples, goal = scatter(np.random.default_rng(seed))
    np.testing.assert_allclose(ours_of(content, samples, tmp_path), goal, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize('kind', [None, 'STABLEHLO_ADD', 'STABLEHLO_MULTIPLY', 'STABLEHLO_MAXIMUM', 'STABLEHLO_MINIMUM'])
def test_scatter_as_litert_does_it(kind, tmp_path):
    """LiteRT takes StableHLO's operators alone as bodies, and numbers, not slices, as max_unpool and index_put have them."""
    net = tflite_net.Net()
    x, u = net.tensor('x', [4, 6], np.float32), net.tensor('u', [3], np.float32)
    places = net.constant('places', np.array([[0, 5], [3, 2], [0, 5] if kind else [1, 1]], np.int32))
    y = net.tensor('y', [4, 6], np.float32)
    net.operator('STABLEHLO_SCATTER', [x, places, u], [y], 'StablehloScatterOptions', updateWindowDims=[],
                 insertedWindowDims=[0, 1], scatterDimsToOperandDims=[0, 1], indexVectorDim=1,
                 updateComputationSubgraphIndex=net.body(kind))
    content = net.bytes([x, u], [y])
    samples = {'x': np.arange(24, dtype=np.float32).reshape(4, 6), 'u': np.array([7, -8, 9], np.float32)}
    goal = litert.outputs_of(content, 'tflite-ref', samples)['y']
    assert (ours_of(content, samples, tmp_path) == goal).all()


def convolved(x, w, c):
    """[N, C, ...] by [O, I / groups, ...], from the definition: x spread out, padded, then window by window."""
    space = len(c['strides'])
    spread = [(n - 1) * s + 1 for n, s in zip(x.shape[2:], c['spread'])]
    wide = np.zeros([*x.shape[:2], *spread])
    wide[(slice(None), slice(None), *(slice(None, None, s) for s in c['spread']))] = x
    wide = np.pad(wide, [(0, 0), (0, 0), *c['padding']])
    w = np.flip(w, [d + 2 for d in range(space) if c['turned'][d]])
    outs = [(n - d * (k - 1) - 1) // s + 1 for n, d, k, s in zip(wide.shape[2:], c['dilations'], w.shape[2:], c['strides'])]
    y = np.zeros([x.shape[0], w.shape[0], *outs])
    each_in, each_out = w.shape[1], w.shape[0] // c['groups']
    for at in itertools.product(*(range(k) for k in w.shape[2:])):
        taps = tuple(slice(i * d, i * d + (n - 1) * s + 1, s) for i, d, n, s in zip(at, c['dilations'], outs, c['strides']))
        part = wide[(slice(None), slice(None), *taps)]
        for g in range(c['groups']):
            inner, outer = slice(g * each_in, (g + 1) * each_in), slice(g * each_out, (g + 1) * each_out)
            y[:, outer] += np.einsum('oi,ni...->no...', w[(outer, slice(None), *at)], part[:, inner])
    return y


def convolution(generator):
    net = tflite_net.Net()
    space = int(generator.integers(1, 4))
    groups, spread_out = int(generator.integers(1, 3)), generator.random() < 0.5
    kernel, dilations = generator.integers(1, 4, space), generator.integers(1, 3, space)
    reach = dilations * (kernel - 1)
    c = {'groups': groups, 'dilations': dilations.tolist(), 'turned': (generator.random(space) < 0.3).tolist(),
         'strides': [1] * space if spread_out else generator.integers(1, 3, space).tolist(),
         'spread': (2 + generator.integers(0, 2, space)).tolist() if spread_out else [1] * space,
         'padding': [[int(generator.integers(0, r + 1)), int(generator.integers(0, r + 1 + spread_out))] for r in reach]}
    x_shape = [2, groups * int(generator.integers(1, 4)), *(reach + 1 + generator.integers(0, 4, space))]
    w_shape = [groups * int(generator.integers(1, 4)), x_shape[1] // groups, *kernel]
    x, w = (generator.normal(size=s).astype(np.float32) for s in (x_shape, w_shape))
    goal = convolved(x.astype(float), w.astype(float), c)
    orders = [generator.permutation(space + 2) for _ in range(3)]  # where the file has each dimension
    places = [np.argsort(order) for order in orders]
    a = net.tensor('x', x.transpose(orders[0]).shape, np.float32)
    b = net.constant('w', w.transpose(orders[1]))
    y = net.tensor('y', goal.transpose(orders[2]).shape, np.float32)
    net.operator('STABLEHLO_CONVOLUTION', [a, b], [y], 'StablehloConvolutionOptions', windowStrides=c['strides'],
                 padding=np.ravel(c['padding']).tolist(), lhsDilation=c['spread'], rhsDilation=c['dilations'],
                 windowReversal=c['turned'], inputBatchDimension=places[0][0], inputFeatureDimension=places[0][1],
                 inputSpatialDimensions=places[0][2:].tolist(), kernelOutputFeatureDimension=places[1][0],
                 kernelInputFeatureDimension=places[1][1], kernelSpatialDimensions=places[1][2:].tolist(),
                 outputBatchDimension=places[2][0], outputFeatureDimension=places[2][1],
                 outputSpatialDimensions=places[2][2:].tolist(), featureGroupCount=groups, batchGroupCount=1)
    return net.bytes([a], [y]), {'x': np.ascontiguousarray(x.transpose(orders[0]))}, goal.transpose(orders[2])


@pytest.mark.parametrize('seed', range(60))
def test_convolution(seed, tmp_path):
    content, samples, goal = convolution(np.random.default_rng(seed))
    np.testing.assert_allclose(ours_of(content, samples, tmp_path), goal, rtol=1e-4, atol=1e-5)


def window_net(**fields):
    net = tflite_net.Net()
    x, y = net.tensor('x', [1, 4, 4, 2], np.float32), net.tensor('y', [1, 2, 2, 2], np.float32)
    first = net.constant('start', np.float32(0))
    body = net.body(fields.pop('code', 'ADD'))
    options = {'windowDimensions': [1, 2, 2, 1], 'windowStrides': [1, 2, 2, 1], 'bodySubgraphIndex': body} | fields
    net.operator('STABLEHLO_REDUCE_WINDOW', [x, first], [y], 'StablehloReduceWindowOptions', **options)
    return net.bytes([x], [y])


@pytest.mark.parametrize('fields, text', [
    ({'windowDimensions': [2, 2]}, 'has 2 sizes of the window, expected 4'),
    ({'windowStrides': [1, 0, 2, 1]}, 'expected positive numbers'),
    ({'bodySubgraphIndex': 9}, 'subgraph 9 of 2 is called')])
def test_damaged_windows_are_refused_in_one_line(fields, text, tmp_path):
    (tmp_path / 'net.tflite').write_bytes(window_net(**fields))
    assert text in pipeline.fails('model_deploy', tmp_path / 'net.tflite', '--mode', 'f32', '-o', tmp_path / 'n.rshift')


@pytest.mark.parametrize('fields, text', [
    ({'code': 'MUL'}, 'is supported with ADD, MAXIMUM or MINIMUM as its body'),
    ({'baseDilations': [1, 2, 1, 1]}, 'base_dilations'),
    ({'padding': [0, 0, -1, 0, 0, 0, 0, 0]}, 'has negative pads')])
def test_windows_without_a_form_are_listed(fields, text, tmp_path):
    (tmp_path / 'net.tflite').write_bytes(window_net(**fields))
    done = pipeline.call('model_deploy', tmp_path / 'net.tflite', '--mode', 'f32', '-o', tmp_path / 'n.rshift')
    assert done.returncode == 1 and text in done.stderr
