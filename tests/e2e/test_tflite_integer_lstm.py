"""UNIDIRECTIONAL_SEQUENCE_LSTM on integers throughout, the converter's full integer quantization: every element equals LiteRT's."""

import dataclasses

import numpy as np
import pytest

pytest.importorskip('ai_edge_litert', reason='ai-edge-litert is not installed: LiteRT is not compared')

import pipeline  # noqa: E402
from frameworks import litert, tflite_net  # noqa: E402

TANH = 4  # ActivationFunctionType
GATES = ('input', 'forget', 'cell', 'output')
COMMANDS = {'dynamic_matmul', 'fixed_lstm_cell', 'fixed_gated_output'}


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
    """One layer of random integers and scales."""

    def __init__(self, case, seed):
        self.case, self.random, self.net = case, np.random.default_rng(seed), tflite_net.Net()
        self.batch, self.steps, self.size, self.hidden = case.shape or (
            int(self.random.integers(1, 4)), int(self.random.integers(1, 9)), int(self.random.integers(1, 40)),
            int(self.random.choice([1, 5, 16, 33, 64, 70])))
        self.x_quant = (np.float32(self.random.uniform(.003, .05)), int(self.random.integers(-128, 128)))
        self.h_quant = (self.scale(), int(self.random.integers(-128, 128)))
        self.held = dict.fromkeys(('hidden', 'state', 'output'), self.h_quant)
        if case.apart:
            zero = self.h_quant[1]
            self.held = {'hidden': (self.scale(), zero), 'state': (self.scale(), int(self.random.integers(-128, 128))), 'output': (self.scale(), zero)}
        self.held |= {name: quant for name, quant in case.changes.items() if name in self.held}

    def scale(self):
        return np.float32(self.random.uniform(.002, .0079))

    def gates(self, *shape, like, dtype=np.int8):
        made = []
        for number, gate in enumerate(GATES):
            if self.case.coupled and gate == 'input':
                made.append(-1)
                continue
            name = f'{like}/{gate}'
            if dtype is np.int32:
                made.append(self.net.constant(name, self.random.integers(-30000, 30001, shape).astype(np.int32), (self.biases[number], 0)))
                continue
            inner, unit = shape[-1], self.x_quant[0] if like == 'w' else self.h_quant[0]
            scale = np.float32(self.case.reach * self.random.uniform(.5, 2) / (np.sqrt(inner) * 64 * 70 * unit))
            data = self.random.integers(-127, 128, shape).astype(np.int8)
            made.append(self.net.constant(name, data, self.case.changes.get(name, (scale, 0))))
        return made

    def content(self):
        c, net = self.case, self.net
        self.outer = (self.steps, self.batch) if c.time_major else (self.batch, self.steps)
        x = net.tensor('x', (*self.outer, self.size), np.int8, self.x_quant)
        self.biases = [np.float32(1e-4)] * 4
        inputs = [x, *self.gates(self.hidden, self.size, like='w'), *self.gates(self.hidden, self.hidden, like='r')]
        peephole = lambda n: net.constant(f'p{n}', self.random.integers(-9, 9, self.hidden).astype(np.int16), (np.float32(1e-3), 0))  # noqa: E731
        inputs += [peephole(n) for n in range(3)] if c.peepholes else [-1] * 3
        inputs += [*self.gates(self.hidden, like='b', dtype=np.int32), -1, -1]
        inputs += [net.variable('h', (self.batch, self.hidden), np.int8, self.held['state']),
                   net.variable('c', (self.batch, self.hidden), np.int16, c.changes.get('c', (np.float32(2.0 ** -c.bits), 0)))]
        inputs += [-1] * 4
        y = net.tensor('y', (*self.outer, self.hidden), np.int8, self.held['output'])
        net.operator('UNIDIRECTIONAL_SEQUENCE_LSTM', inputs, [y], 'UnidirectionalSequenceLSTMOptions', fusedActivationFunction=TANH,
                     cellClip=c.clip, timeMajor=c.time_major)
        way = [net.tensor(f'way{n}', (0,), np.int16, (np.float32(2.0 ** -12), 0)) for n in range(4)]
        net.operators[-1].intermediates = [*way, net.tensor('hidden', (0,), np.int8, self.held['hidden'])]
        return net.bytes([x], [y])

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


def compare(layer, folder, profile='tflite-ref', way='tflite-ref', extra=()):
    """Elements compared, different ones, and how many values the results have."""
    content = layer.content()
    done = deploy(content, folder, *(extra or ('--profile', profile)))
    assert done.returncode == 0, done.stderr
    assert not pipeline.f32_commands(folder / 'net.rshift')
    compared = differ = 0
    values = set()
    for x in layer.samples():
        goal = litert.outputs_of(content, way, {'x': x})['y']
        ours = pipeline.infer(folder / 'net.rshift', {'x': x}, folder, '--raw')['y']
        assert ours.dtype == goal.dtype and ours.shape == goal.shape
        compared, differ = compared + goal.size, differ + int((ours != goal).sum())
        values |= set(goal.ravel().tolist())
    return compared, differ, len(values)


CASES = {'plain': Case(), 'time_major': Case(time_major=True), 'coupled': Case(coupled=True), 'keras': Case(clip=10.0, bits=11),
         'clipped': Case(clip=.3, reach=4), 'clipped_beyond': Case(clip=100.0, bits=15), 'wide_gates': Case(reach=30), 'narrow_gates': Case(reach=.05),
         'wild_gates': Case(reach=5000), 'apart': Case(apart=True), 'coupled_time_major': Case(coupled=True, time_major=True, clip=2.0),
         'long': Case(shape=(2, 60, 20, 48)), 'one': Case(shape=(1, 1, 1, 1)), 'wide': Case(shape=(1, 3, 700, 300))}


@pytest.mark.parametrize('name', CASES)
def test_every_element_is_litert_s(name, tmp_path):
    compared = differ = values = 0
    for seed in range(4):
        c, d, v = compare(Layer(CASES[name], 100 * seed + len(name)), tmp_path, way=list(litert.WAYS)[seed % 3])
        compared, differ, values = compared + c, differ + d, max(values, v)
    print(f'{name}: {compared} elements, {differ} differ, up to {values} values')
    assert differ == 0
    assert values > 20 or name == 'one'


@pytest.mark.parametrize('bits', range(9, 16))
def test_units_of_the_state(bits, tmp_path):
    compared, differ, _ = compare(Layer(Case(bits=bits, reach=4, shape=(2, 12, 9, 40)), bits), tmp_path)
    print(f'2^-{bits}: {compared} elements, {differ} differ')
    assert differ == 0
