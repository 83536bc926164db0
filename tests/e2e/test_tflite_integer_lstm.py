"""UNIDIRECTIONAL_SEQUENCE_LSTM on integers throughout, the converter's full integer quantization: every element equals LiteRT's."""

import dataclasses

import numpy as np
import pytest

pytest.importorskip('ai_edge_litert', reason='ai-edge-litert is not installed: LiteRT is not compared')

import pipeline  # noqa: E402
from frameworks import litert, tflite_net  # noqa: E402

TANH = 4  # ActivationFunctionType
GATES = ('input', 'forget', 'cell', 'output')


@dataclasses.dataclass
class Case:
    coupled: bool = False
    time_major: bool = False
    clip: float = 0.0
    bits: int = 11  # of the state's fraction
    reach: float = 1.0  # of the gates, in what tells them apart
    apart: bool = False  # what the operator holds on the way, its state and its result have scales of their own
    shape: tuple = None  # batch, steps, size, hidden
    peepholes: bool = False
    changes: dict = dataclasses.field(default_factory=dict)


class Layer:
    """One layer of random integers and scales, in a net of its own or behind `x`: tensor and quantization."""

    def __init__(self, case, seed, net=None, name=''):
        self.case, self.name, self.random, self.net = case, name, np.random.default_rng(seed), net or tflite_net.Net()
        self.batch, self.steps, self.size, self.hidden = case.shape or (
            int(self.random.integers(1, 4)), int(self.random.integers(1, 9)), int(self.random.integers(1, 40)),
            int(self.random.choice([1, 5, 16, 33, 64, 70])))
        self.outer = (self.steps, self.batch) if case.time_major else (self.batch, self.steps)
        self.x_quant = (np.float32(self.random.uniform(.003, .05)), int(self.random.integers(-128, 128)))
        h_quant = (self.scale(), int(self.random.integers(-128, 128)))
        self.held = dict.fromkeys(('hidden', 'state', 'output'), h_quant)
        if case.apart:
            zero = h_quant[1]
            self.held = {'hidden': (self.scale(), zero), 'state': (self.scale(), int(self.random.integers(-128, 128))), 'output': (self.scale(), zero)}
        self.held |= {name: quant for name, quant in case.changes.items() if name in self.held}

    def scale(self):
        return np.float32(self.random.uniform(.002, .0079))

    def constant(self, name, data, quant):
        return self.net.constant(self.name + name, data, self.case.changes.get(name, quant))

    def gates(self, like, size, unit):
        """Weights whose products reach about as far as the gates' functions do, times the case's reach."""
        made = []
        for gate in GATES:
            if self.case.coupled and gate == 'input':
                made.append(-1)
                continue
            scale = np.float32(self.case.reach * self.random.uniform(.5, 2) / (np.sqrt(size) * 64 * 70 * unit))
            data = self.random.integers(-127, 128, (self.hidden, size)).astype(np.int8)
            made.append(self.constant(f'{like}/{gate}', data, (scale, 0)))
        return made

    def biases(self):
        made = [self.constant(f'b/{gate}', self.random.integers(-30000, 30001, self.hidden).astype(np.int32), (np.float32(1e-4), 0)) for gate in GATES]
        return [-1 if self.case.coupled else made[0], *made[1:]]

    def add(self, x):
        c, net = self.case, self.net
        inputs = [x, *self.gates('w', self.size, self.x_quant[0]), *self.gates('r', self.hidden, self.held['state'][0])]
        peephole = lambda n: self.constant(f'p{n}', self.random.integers(-9, 9, self.hidden).astype(np.int16), (np.float32(1e-3), 0))  # noqa: E731
        inputs += [peephole(n) for n in range(3)] if c.peepholes else [-1] * 3
        inputs += [*self.biases(), -1, -1, net.variable(self.name + 'h', (self.batch, self.hidden), np.int8, self.held['state']),
                   net.variable(self.name + 'c', (self.batch, self.hidden), np.int16, c.changes.get('c', (np.float32(2.0 ** -c.bits), 0)))]
        y = net.tensor(self.name + 'y', (*self.outer, self.hidden), np.int8, self.held['output'])
        net.operator('UNIDIRECTIONAL_SEQUENCE_LSTM', [*inputs, *[-1] * 4], [y], 'UnidirectionalSequenceLSTMOptions', fusedActivationFunction=TANH,
                     cellClip=c.clip, timeMajor=c.time_major)
        way = [net.tensor(f'{self.name}way{n}', (0,), np.int16, (np.float32(2.0 ** -12), 0)) for n in range(4)]
        net.operators[-1].intermediates = [*way, net.tensor(self.name + 'hidden', (0,), np.int8, self.held['hidden'])]
        return y

    def content(self):
        x = self.net.tensor('x', (*self.outer, self.size), np.int8, self.x_quant)
        y = self.add(x)
        return self.net.bytes([x], [y])

    def samples(self):
        shape = (*self.outer, self.size)
        ends = self.random.choice(np.array([-128, 127], np.int8), shape)
        yield self.random.integers(-128, 128, shape).astype(np.int8)
        yield ends
        yield np.where(self.random.random(shape) < .1, ends, np.int8(np.clip(self.x_quant[1], -128, 127)))
        yield np.full(shape, self.random.choice([-128, 127]), np.int8)


def deploy(content, folder, *extra):
    (folder / 'net.tflite').write_bytes(content)
    return pipeline.call('model_deploy', folder / 'net.tflite', '-o', folder / 'net.rshift', *extra)


def compare(content, samples, folder, way='tflite-ref', extra=('--profile', 'tflite-ref')):
    """Elements compared, different ones, and how many values the results have."""
    done = deploy(content, folder, *extra)
    assert done.returncode == 0, done.stderr
    assert "begins with zeros in every run" in done.stderr
    assert not pipeline.f32_commands(folder / 'net.rshift')
    compared = differ = 0
    values = set()
    for sample in samples:
        goals = litert.outputs_of(content, way, sample)
        ours = pipeline.infer(folder / 'net.rshift', sample, folder, '--raw')
        for name, goal in goals.items():
            assert ours[name].dtype == goal.dtype and ours[name].shape == goal.shape
            compared, differ = compared + goal.size, differ + int((ours[name] != goal).sum())
            values |= set(goal.ravel().tolist())
    return compared, differ, len(values)


def of_one(layer, folder, **arguments):
    content = layer.content()
    return compare(content, [{'x': x} for x in layer.samples()], folder, **arguments)


CASES = {'plain': Case(), 'time_major': Case(time_major=True), 'coupled': Case(coupled=True), 'keras': Case(clip=10.0, bits=11),
         'clipped': Case(clip=.3, reach=4), 'clipped_beyond': Case(clip=100.0, bits=15), 'wide_gates': Case(reach=30), 'narrow_gates': Case(reach=.05),
         'wild_gates': Case(reach=5000), 'apart': Case(apart=True), 'coupled_time_major': Case(coupled=True, time_major=True, clip=2.0),
         'long': Case(shape=(2, 60, 20, 48)), 'one': Case(shape=(1, 1, 1, 1)), 'wide': Case(shape=(1, 3, 700, 300))}


@pytest.mark.parametrize('name', CASES)
def test_every_element_is_litert_s(name, tmp_path):
    compared = differ = values = 0
    for seed in range(4):
        c, d, v = of_one(Layer(CASES[name], 100 * seed + len(name)), tmp_path, way=list(litert.WAYS)[seed % 3])
        compared, differ, values = compared + c, differ + d, max(values, v)
    print(f'{name}: {compared} elements, {differ} differ, up to {values} values')
    assert differ == 0
    assert values > (2 if name in ('one', 'wild_gates') else 20)


@pytest.mark.parametrize('bits', range(9, 16))
def test_units_of_the_state(bits, tmp_path):
    compared, differ, _ = of_one(Layer(Case(bits=bits, reach=4, shape=(2, 12, 9, 40)), bits), tmp_path)
    print(f'2^-{bits}: {compared} elements, {differ} differ')
    assert differ == 0


def network(seed):
    """Keras's layers behind one another: QUANTIZE, two LSTMs, FULLY_CONNECTED; and what both LSTMs give."""
    net, random = tflite_net.Net(), np.random.default_rng(seed)
    batch, steps, size, hidden, classes = 2, int(random.integers(2, 12)), int(random.integers(3, 30)), 24, 10
    first = Layer(Case(clip=10.0, shape=(batch, steps, size, hidden)), seed, net, 'a/')
    second = Layer(Case(clip=10.0, coupled=seed % 2 == 1, shape=(batch, steps, hidden, hidden)), seed + 50, net, 'b/')
    second.x_quant = first.held['output']
    x = net.tensor('x', (batch, steps, size), np.float32)
    q = net.tensor('q', (batch, steps, size), np.int8, first.x_quant)
    net.operator('QUANTIZE', [x], [q])
    a = first.add(q)
    b = second.add(a)
    w = net.constant('fc/w', random.integers(-127, 128, (classes, hidden)).astype(np.int8), (np.float32(.01), 0))
    bias = net.constant('fc/b', random.integers(-900, 900, classes).astype(np.int32), (np.float32(.01 * second.held['output'][0]), 0))
    y = net.tensor('y', (batch, steps, classes), np.int8, (np.float32(.04), -3))
    net.operator('FULLY_CONNECTED', [b, w, bias], [y], 'FullyConnectedOptions', keepNumDims=True)
    samples = [{'x': (random.normal(0, reach, (batch, steps, size)) * 40 * first.x_quant[0]).astype(np.float32)} for reach in (.3, 1, 4)]
    return net.bytes([x], [a, y]), samples


@pytest.mark.parametrize('profile', litert.WAYS)
def test_networks(profile, tmp_path):
    compared = differ = 0
    for seed in range(3):
        c, d, _ = compare(*network(seed), tmp_path, way=profile, extra=('--profile', profile))
        compared, differ = compared + c, differ + d
    print(f'{profile}: {compared} elements, {differ} differ')
    assert differ == 0


@pytest.mark.parametrize('extra', (('--profile', 'tflite'), ('--profile', 'tpu'), ('--profile', 'onnxruntime'), ('--profile', 'openvino'), ('--mode', 'f32')), ids='-'.join)
def test_every_profile_has_the_same_integers(extra, tmp_path):
    _, differ, values = of_one(Layer(Case(clip=2.0, shape=(2, 9, 12, 33)), 5), tmp_path, extra=extra)
    assert differ == 0 and values > 20


def test_instruction_sets_and_threads_give_the_same_bytes(tmp_path):
    layer = Layer(Case(shape=(3, 11, 40, 130)), 6)
    content = layer.content()
    assert deploy(content, tmp_path, '--profile', 'tflite-ref').returncode == 0
    for x in layer.samples():
        goal = pipeline.infer(tmp_path / 'net.rshift', {'x': x}, tmp_path, '--raw', '--isa', 'scalar', '--threads', '1')['y']
        for extra in (('--isa', 'avx2'), ('--threads', '1'), ('--threads', '2')):
            np.testing.assert_array_equal(pipeline.infer(tmp_path / 'net.rshift', {'x': x}, tmp_path, '--raw', *extra)['y'], goal)
        np.testing.assert_array_equal(litert.outputs_of(content, 'tflite-xnnpack', {'x': x})['y'], goal)


def test_states_begin_with_zeros_in_every_run(tmp_path):
    """LiteRT's interpreter keeps them until its variables are reset: then it is as ours."""
    layer = Layer(Case(shape=(1, 4, 6, 16)), 7)
    content = layer.content()
    assert deploy(content, tmp_path, '--profile', 'tflite-ref').returncode == 0
    x = next(layer.samples())
    np.save(tmp_path / 'x.npy', np.concatenate([x] * 3))
    pipeline.run('model_runner', tmp_path / 'net.rshift', '--dataset', tmp_path / 'x.npy', '--raw', '--output', tmp_path / 'out.npz')
    ours = pipeline.arrays_of(tmp_path / 'out.npz')['y'].reshape(3, 4, 16)
    made = litert.load(content, 'tflite-ref')
    given = []
    for run in range(3):
        if run == 2:
            made.reset_all_variables()
        made.set_tensor(made.get_input_details()[0]['index'], x)
        made.invoke()
        given.append(made.get_tensor(made.get_output_details()[0]['index'])[0].copy())
    np.testing.assert_array_equal(ours, np.stack([given[0], given[0], given[2]]))
    assert (given[1] != given[0]).any()


OTHERS = {'peepholes': Case(peepholes=True), 'unit_of_the_state': Case(changes={'c': (np.float32(1e-3), 0)}), 'coarse_state': Case(bits=8),
          'zero_point_of_hidden': Case(changes={'hidden': (np.float32(.005), 3), 'output': (np.float32(.005), 4)}),
          'zero_point_of_weights': Case(changes={'w/cell': (np.float32(.005), 1)})}


@pytest.mark.parametrize('name', OTHERS)
def test_others_stay_f32_between_their_integers(name, tmp_path):
    done = deploy(Layer(dataclasses.replace(OTHERS[name], shape=(1, 2, 4, 8)), 8).content(), tmp_path, '--profile', 'tflite-ref')
    assert done.returncode == 0, done.stderr
    assert pipeline.f32_commands(tmp_path / 'net.rshift')


def test_what_is_refused_is_named(tmp_path):
    layer = Layer(Case(shape=(1, 2, 4, 8)), 9)
    layer.content()
    layer.net.operators[-1].intermediates[4] = 999
    done = deploy(layer.net.bytes([layer.net.operators[-1].inputs[0]], layer.net.operators[-1].outputs), tmp_path)
    assert done.returncode != 0 and 'makes on the way what it names tensor 999 of' in done.stderr, done.stderr
    layer = Layer(Case(shape=(1, 1025, 1, 1)), 10)
    done = deploy(layer.content(), tmp_path)
    assert done.returncode != 0 and 'has 1025 steps, which are unrolled' in done.stderr, done.stderr
    layer = Layer(Case(shape=(1, 2, 4, 8)), 11)
    layer.content()
    layer.net.tensors[layer.net.operators[-1].inputs[1]].shape = [4, 8]
    done = deploy(layer.net.bytes([layer.net.operators[-1].inputs[0]], layer.net.operators[-1].outputs), tmp_path)
    assert done.returncode != 0 and len(done.stderr.strip().splitlines()) <= 2, done.stderr
