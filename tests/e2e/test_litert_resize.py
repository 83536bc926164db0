"""LiteRT's RESIZE_BILINEAR of int8 and uint8 (16 bits: test_tflite_int16.py) in its three ways, all bytes LiteRT's.

Random sizes, one pixel, equal sizes and whole factors among them; all of the three kinds of coordinates; numbers near the
zero point, whose sums lie on ties, and the ends of the type. One file holds many cases. L2_NORMALIZATION of uint8 with them.
"""

import numpy as np
import pytest

pytest.importorskip('ai_edge_litert', reason='ai-edge-litert is not installed: LiteRT is not compared')

import pipeline  # noqa: E402
from frameworks import litert, tflite_net  # noqa: E402

SEED, FILES, CASES = 20261126, 3, 40
CORNERS = {'asymmetric': {}, 'corners': {'alignCorners': True}, 'half': {'halfPixelCenters': True}}


def sizes(rng):
    """(of the input, of the result)."""
    h, w = (int(v) for v in rng.integers(1, 14, 2))
    free = [int(v) for v in rng.integers(1, 45, 2)]
    factor = int(rng.choice([2, 3, 4, 8]))
    return (h, w), [free, [h * factor, w * factor], [h, w], [1, 1], [h, free[1]], [-(-h // 2), -(-w // 2)]][rng.integers(0, 6)]


def numbers(rng, shape, kind):
    limits = np.iinfo(kind)
    middle = (limits.max + limits.min + 1) // 2
    return [rng.integers(limits.min, limits.max + 1, shape), rng.choice([limits.min, limits.max], shape),
            rng.integers(middle - 9, middle + 10, shape)][rng.integers(0, 3)].astype(kind)


def many(rng, kind, corners):
    """(file, samples)."""
    net, samples, outputs = tflite_net.Net(), {}, []
    limits = np.iinfo(kind)
    for i in range(CASES):
        before, after = sizes(rng)
        batch, channels = int(rng.integers(1, 3)), int(rng.choice([1, 3, 8, 16, 21, 70]))
        quant = float(np.float32(rng.uniform(.001, .5))), int(rng.integers(limits.min, limits.max + 1))
        x = net.tensor(f'x{i}', (batch, *before, channels), kind, quant)
        samples[f'x{i}'] = numbers(rng, (batch, *before, channels), kind)
        y = net.tensor(f'y{i}', (batch, *after, channels), kind, quant)
        net.operator('RESIZE_BILINEAR', [x, net.constant(f's{i}', np.array(after, np.int32))], [y], 'ResizeBilinearOptions',
                     **CORNERS[corners])
        outputs.append(y)
    return net.bytes([i for i, t in enumerate(net.tensors) if t.name.startswith('x')], outputs), samples


def compare(content, samples, profile, folder):
    """(elements, how many differ)."""
    model, program = folder / 'net.tflite', folder / 'net.rshift'
    model.write_bytes(content)
    pipeline.run('model_deploy', model, '--profile', profile, '-o', program)
    assert not pipeline.f32_commands(program), profile
    theirs, ours = litert.outputs_of(content, profile, samples), pipeline.infer(program, samples, folder, '--raw')
    for name, goal in theirs.items():
        assert ours[name].shape == goal.shape and ours[name].dtype == goal.dtype, name
    return (sum(goal.size for goal in theirs.values()),
            sum(int((ours[name] != goal).sum()) for name, goal in theirs.items()))


@pytest.mark.parametrize('corners', CORNERS)
@pytest.mark.parametrize('kind', (np.int8, np.uint8), ids=('int8', 'uint8'))
def test_bilinear(kind, corners, tmp_path, report):
    for profile in litert.WAYS:
        elements = differ = 0
        for seed in range(FILES):
            content, samples = many(np.random.default_rng([SEED, seed]), kind, corners)
            found = compare(content, samples, profile, tmp_path)
            elements, differ = elements + found[0], differ + found[1]
        report(f'{profile:15} bilinear {kind.__name__} {corners}: {elements:,} bytes of {FILES * CASES} cases, {differ} differ')
        assert differ == 0, profile


@pytest.mark.parametrize('profile', litert.WAYS)
def test_l2_normalization_of_uint8(profile, tmp_path, report):
    rng = np.random.default_rng(SEED)
    net, samples, outputs = tflite_net.Net(), {}, []
    for i, depth in enumerate((1, 2, 3, 17, 64, 600, 1, 2, 3, 40)):
        zero = int(rng.integers(0, 256))
        x = net.tensor(f'x{i}', (7, depth), np.uint8, (float(np.float32(rng.uniform(.001, .5))), zero))
        data = rng.integers(0, 256, (7, depth)).astype(np.uint8)
        data[:2] = zero
        data[1] += (rng.random(depth) < .3).astype(np.uint8)
        samples[f'x{i}'] = data
        outputs.append(net.tensor(f'y{i}', (7, depth), np.uint8, (1 / 128, 128)))
        net.operator('L2_NORMALIZATION', [x], [outputs[-1]], 'L2NormOptions')
    content = net.bytes([i for i, t in enumerate(net.tensors) if t.name.startswith('x')], outputs)
    elements, differ = compare(content, samples, profile, tmp_path)
    report(f'{profile:15} L2_NORMALIZATION uint8: {elements:,} bytes, {differ} differ')
    assert differ == 0
