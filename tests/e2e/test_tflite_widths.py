"""TensorFlow Lite files with activations of 16 bits and weights of 4, against LiteRT."""

import numpy as np
import pytest

pytest.importorskip('ai_edge_litert', reason='ai-edge-litert is not installed: LiteRT is not compared')

import pipeline  # noqa: E402
from ai_edge_litert import schema_py_generated as schema  # noqa: E402
from frameworks import litert, tflite_net  # noqa: E402
from frameworks.tflite_cases import window  # noqa: E402

STEP = 1 / 4096  # of the activations of 16 bits: -8 to 8


def theirs_of(content, sample, profile='tflite-ref'):
    made = litert.load(content, profile)
    made.set_tensor(made.get_input_details()[0]['index'], sample)
    made.invoke()
    return np.array(made.get_tensor(made.get_output_details()[0]['index']))


def ours_of(content, sample, folder, *how):
    (folder / 'net.tflite').write_bytes(content)
    pipeline.run('model_deploy', folder / 'net.tflite', '-o', folder / 'net.rshift', *how)
    return pipeline.infer(folder / 'net.rshift', {'x': sample}, folder, '--raw')['y']


class Wide:
    """A chain of operators on int16 between a QUANTIZE and a DEQUANTIZE."""

    def __init__(self, shape, random):
        self.net, self.random = tflite_net.Net(), random
        self.x = self.net.tensor('x', shape, np.float32)
        self.at = self.tensor('q', shape)
        self.net.operator('QUANTIZE', [self.x], [self.at])

    def tensor(self, name, shape, step=STEP):
        return self.net.tensor(name, shape, np.int16, (step, 0))

    def weights(self, name, shape, axis):
        scales = self.random.uniform(0.002, 0.004, shape[axis]).astype(np.float32)
        w = self.net.constant(f'{name}_w', self.random.integers(-127, 128, shape).astype(np.int8), (scales, 0), axis)
        bias = self.random.integers(-40000, 40000, shape[axis]).astype(np.int64)
        return [w, self.net.constant(f'{name}_b', bias, (scales * np.float32(STEP), 0))]

    def operator(self, name, code, shape, constants=(), options=None, step=STEP, **fields):
        y = self.tensor(name, shape, step)
        self.net.operator(code, [self.at, *constants], [y], options, **fields)
        self.at = y

    def bytes(self, shape):
        y = self.net.tensor('y', shape, np.float32)
        self.net.operator('DEQUANTIZE', [self.at], [y])
        return self.net.bytes([self.x], [y])


IMAGE = (1, 8, 6, 8)


def conv(net):
    net.operator('c', 'CONV_2D', (1, 8, 6, 5), net.weights('c', (5, 3, 3, 8), 0), 'Conv2DOptions', **window(act='relu'))
    return 1, 8, 6, 5


def depthwise(net):
    net.operator('d', 'DEPTHWISE_CONV_2D', IMAGE, net.weights('d', (1, 3, 3, 8), 3), 'DepthwiseConv2DOptions',
                 **window(depthMultiplier=1))
    return IMAGE


def fully_connected(net):
    shape = (1, 8, 6, 7)
    net.operator('f', 'FULLY_CONNECTED', shape, net.weights('f', (7, 8), 0), 'FullyConnectedOptions', keepNumDims=True)
    return shape


def residual(net):
    before = net.at
    depthwise(net)
    net.operator('s', 'ADD', IMAGE, [before], 'AddOptions')
    net.operator('p', 'AVERAGE_POOL_2D', IMAGE, [], 'Pool2DOptions', **window(filterHeight=3, filterWidth=3))
    return IMAGE


def function(net, code):
    depthwise(net)
    net.operator('t', code, IMAGE, step=1 / 32768)
    return IMAGE


CHAINS = {'conv': conv, 'depthwise': depthwise, 'fully_connected': fully_connected, 'residual': residual,
          'tanh': lambda net: function(net, 'TANH'), 'logistic': lambda net: function(net, 'LOGISTIC')}


@pytest.mark.parametrize('chain', CHAINS)
def test_activations_of_16_bits_run_in_f32(chain, tmp_path, report):
    """Within one level of 16 bits for each operator that rounds."""
    random = np.random.default_rng(7)
    net = Wide(IMAGE, random)
    content = net.bytes(CHAINS[chain](net))
    worst = 0
    for _ in range(4):
        sample = random.uniform(-6, 6, IMAGE).astype(np.float32)
        goal = theirs_of(content, sample)
        ours = ours_of(content, sample, tmp_path, '--mode', 'f32')
        assert ours.shape == goal.shape
        worst = max(worst, float(np.abs(ours - goal).max()))
    step = 1 / 32768 if chain in ('tanh', 'logistic') else STEP
    report(f'{chain}: at most {worst / step:.2f} levels of 16 bits from LiteRT 16x8')
    # One level of what tanh reads is eight of its result, of what logistic reads two.
    assert worst <= {'tanh': 9, 'logistic': 3}.get(chain, 2) * step


def nibbles(values):
    """Two to a byte, the first in the lower half."""
    flat = np.append(values.reshape(-1), np.zeros(values.size % 2, np.int8)).astype(np.int8)
    return ((flat[0::2] & 15) | (flat[1::2] << 4)).astype(np.uint8)


def four_bit_net(code, bits):
    """One operator on int8 whose weights are of 4 bits; bits 8: the same numbers in bytes."""
    random, net = np.random.default_rng(9), tflite_net.Net()
    shape, out = ((1, 9, 7, 8), (1, 9, 7, 6)) if code == 'CONV_2D' else ((3, 33), (3, 5))
    w_shape = (6, 3, 3, 8) if code == 'CONV_2D' else (5, 33)
    x = net.tensor('x', shape, np.int8, (0.05, -3))
    y = net.tensor('y', out, np.int8, (0.21, 7))
    scales = random.uniform(0.03, 0.06, w_shape[0]).astype(np.float32) if code == 'CONV_2D' else np.float32([0.04])
    values = random.integers(-7, 8, w_shape).astype(np.int8)
    w = net.constant('w', values, (scales, 0))
    if bits == 4:
        net.tensors[w].type = schema.TensorType.INT4
        net.buffers[net.tensors[w].buffer].data = nibbles(values)
    bias = net.constant('b', random.integers(-900, 900, w_shape[0]).astype(np.int32), (scales * np.float32(0.05), 0))
    if code == 'CONV_2D':
        net.operator(code, [x, w, bias], [y], 'Conv2DOptions', **window())
    else:
        net.operator(code, [x, w, bias], [y], 'FullyConnectedOptions')
    return net.bytes([x], [y]), shape


@pytest.mark.parametrize('code', ('CONV_2D', 'FULLY_CONNECTED'))
def test_weights_of_4_bits_are_integers(code, tmp_path, report):
    """The bytes of LiteRT, and of the same numbers in 8 bits. Its delegate leaves such convolutions to tflite-ruy's kernel."""
    content, shape = four_bit_net(code, 4)
    wide, _ = four_bit_net(code, 8)
    random = np.random.default_rng(2)
    for profile in litert.WAYS:
        elements = differ = 0
        for _ in range(4):
            sample = random.integers(-128, 128, shape).astype(np.int8)
            goal = theirs_of(content, sample, profile)
            own = 'tflite-ruy' if code == 'CONV_2D' and profile == 'tflite-xnnpack' else profile
            ours = ours_of(content, sample, tmp_path, '--profile', own)
            assert np.array_equal(ours, ours_of(wide, sample, tmp_path, '--profile', own))
            elements, differ = elements + goal.size, differ + int((ours != goal).sum())
        assert not pipeline.f32_commands(tmp_path / 'net.rshift')
        report(f'{code} of 4-bit weights, {profile}: {elements} elements, {differ} differ')
        assert differ == 0
