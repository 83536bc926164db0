"""Layers with a state out of .tflite files against LiteRT: LSTM, RNN, SVDF."""

import dataclasses

import numpy as np
import pytest

pytest.importorskip('ai_edge_litert', reason='ai-edge-litert is not installed: LiteRT is not compared')

import oracle  # noqa: E402
import pipeline  # noqa: E402
from frameworks import litert, tflite_net  # noqa: E402

BATCH, STEPS, SIZE, HIDDEN = 2, 7, 5, 6


class Layer:
    """The inputs of one operator on floats; `missing`: -1 in their list."""

    def __init__(self, seed):
        self.random, self.net, self.constants = np.random.default_rng(seed), tflite_net.Net(), 0

    def constant(self, *shape, reach=.7):
        self.constants += 1
        return self.net.constant(f'c{self.constants}', self.random.uniform(-reach, reach, shape).astype(np.float32))

    def input(self, time_major):
        self.shape = (STEPS, BATCH, SIZE) if time_major else (BATCH, STEPS, SIZE)
        self.x = self.net.tensor('x', self.shape, np.float32)
        return self.x

    def state(self, name):
        return self.net.variable(name, (BATCH, HIDDEN), np.float32)

    def gates(self, *shape, coupled=False, reach=.7):
        return [-1 if coupled and gate == 0 else self.constant(*shape, reach=reach) for gate in range(4)]

    def lstm(self, coupled, peepholes, reach=.7):
        """Weights, recurrence, peepholes, biases, no projection."""
        own = [*self.gates(HIDDEN, SIZE, coupled=coupled, reach=reach), *self.gates(HIDDEN, HIDDEN, coupled=coupled)]
        own += [-1 if not peepholes or (coupled and gate == 0) else self.constant(HIDDEN) for gate in range(3)]
        return own + self.gates(HIDDEN, coupled=coupled) + [-1, -1]

    def finish(self, code, inputs, options, results=1, width=HIDDEN, **fields):
        shape = (*self.shape[:2], width)
        outputs = [self.net.tensor(f'y{i}', shape, np.float32) for i in range(results)]
        self.net.operator(code, inputs, outputs, options, **fields)
        return self.net.bytes([self.x], outputs)


TANH = 4  # ActivationFunctionType


@dataclasses.dataclass
class Case:
    coupled: bool = False
    peepholes: bool = False
    clip: float = 0.0
    time_major: bool = False
    reach: float = .7
    merges: bool = False


LSTMS = {'plain': Case(), 'time_major': Case(time_major=True), 'coupled': Case(coupled=True), 'peepholes': Case(peepholes=True),
         'coupled_peepholes': Case(coupled=True, peepholes=True), 'keras': Case(clip=10.0), 'clipped': Case(clip=.3, reach=3)}


def sequence_lstm(case, seed=1):
    layer = Layer(seed)
    inputs = [layer.input(case.time_major), *layer.lstm(case.coupled, case.peepholes, case.reach)]
    inputs += [layer.state('h'), layer.state('c')]
    return layer, layer.finish('UNIDIRECTIONAL_SEQUENCE_LSTM', inputs, 'UnidirectionalSequenceLSTMOptions',
                               fusedActivationFunction=TANH, cellClip=case.clip, timeMajor=case.time_major)


def deployed(folder):
    """What model_deploy notes of the network in floats."""
    done = pipeline.call('model_deploy', folder / 'net.tflite', '-o', folder / 'net.rshift', '--mode', 'f32')
    assert done.returncode == 0, done.stderr
    return done.stderr


def compare(layer, content, folder):
    """Our outputs, which are LiteRT's within float error, and what model_deploy says."""
    x = {'x': np.random.default_rng(2).normal(0, 1.5, layer.shape).astype(np.float32)}
    (folder / 'net.tflite').write_bytes(content)
    said = deployed(folder)
    ours = pipeline.infer(folder / 'net.rshift', x, folder)
    theirs = litert.outputs_of(content, 'tflite-ref', x)
    for name, goal in theirs.items():
        np.testing.assert_allclose(ours[name], goal, rtol=1e-5, atol=2e-6)
    return ours, said


@pytest.mark.parametrize('name', LSTMS)
def test_a_sequence_through_an_lstm(name, tmp_path):
    layer, content = sequence_lstm(LSTMS[name])
    ours, said = compare(layer, content, tmp_path)
    assert "the state of 'y0' begins with zeros in every run" in said
    if name == 'clipped':  # the clip counts
        free, content = sequence_lstm(Case(reach=3))
        assert np.abs(compare(free, content, tmp_path)[0]['y0'] - ours['y0']).max() > .1


@pytest.mark.parametrize('case', (Case(), Case(merges=True, time_major=True), Case(coupled=True, peepholes=True, clip=10.0)),
                         ids=('two_results', 'merged', 'coupled_peepholes'))
def test_a_sequence_through_an_lstm_of_both_directions(case, tmp_path):
    layer = Layer(3)
    inputs = [layer.input(case.time_major), *layer.lstm(case.coupled, case.peepholes), *layer.lstm(case.coupled, case.peepholes)]
    inputs += [layer.state(name) for name in ('fh', 'fc', 'bh', 'bc')] + [-1] * 9
    content = layer.finish('BIDIRECTIONAL_SEQUENCE_LSTM', inputs, 'BidirectionalSequenceLSTMOptions',
                           results=1 if case.merges else 2, width=HIDDEN * (1 + case.merges), fusedActivationFunction=TANH,
                           cellClip=case.clip, timeMajor=case.time_major, mergeOutputs=case.merges)
    compare(layer, content, tmp_path)


@pytest.mark.parametrize('function', (TANH, 1), ids=('tanh', 'relu'))
@pytest.mark.parametrize('time_major', (False, True))
def test_a_sequence_through_an_rnn(function, time_major, tmp_path):
    layer = Layer(4)
    inputs = [layer.input(time_major), layer.constant(HIDDEN, SIZE), layer.constant(HIDDEN, HIDDEN), layer.constant(HIDDEN),
              layer.state('h')]
    compare(layer, layer.finish('UNIDIRECTIONAL_SEQUENCE_RNN', inputs, 'SequenceRNNOptions', fusedActivationFunction=function,
                                timeMajor=time_major), tmp_path)


def test_a_sequence_through_an_rnn_of_both_directions(tmp_path):
    layer = Layer(5)
    own = [[layer.constant(HIDDEN, SIZE), layer.constant(HIDDEN, HIDDEN), layer.constant(HIDDEN), layer.state(name)]
           for name in ('fh', 'bh')]
    inputs = [layer.input(False), *own[0], *own[1], -1, -1, -1]
    compare(layer, layer.finish('BIDIRECTIONAL_SEQUENCE_RNN', inputs, 'BidirectionalSequenceRNNOptions', results=2,
                                fusedActivationFunction=TANH), tmp_path)


def frames_of(content, x):
    """What LiteRT gives for one frame after the other, its state kept."""
    made = litert.load(content, 'tflite-ref')
    found = []
    for frame in x:
        made.set_tensor(made.get_input_details()[0]['index'], frame)
        made.invoke()
        found.append(made.get_tensor(made.get_output_details()[0]['index']).copy())
    return np.stack(found)


def carried(content, x, folder):
    (folder / 'net.tflite').write_bytes(content)
    said = deployed(folder)
    assert "as 'state', and an output, 'state/next'" in said
    np.save(folder / 'x.npy', x)
    pipeline.run('model_runner', folder / 'net.rshift', '--dataset', folder / 'x.npy', '--carry', 'auto', '--output',
                 folder / 'out.npz')
    return pipeline.arrays_of(folder / 'out.npz')['y']


@pytest.mark.parametrize('function', (0, 1), ids=('none', 'relu'))
@pytest.mark.parametrize('rank', (1, 2))
def test_svdf_remembers_frames(rank, function, tmp_path):
    units, memory, net, random = 4, 3, tflite_net.Net(), np.random.default_rng(6)
    x, y = net.tensor('x', (BATCH, SIZE), np.float32), net.tensor('y', (BATCH, units), np.float32)
    make = lambda name, *shape: net.constant(name, random.normal(0, 1, shape).astype(np.float32))  # noqa: E731
    inputs = [x, make('features', units * rank, SIZE), make('time', units * rank, memory), make('bias', units),
              net.variable('state', (BATCH, units * rank * memory), np.float32)]
    net.operator('SVDF', inputs, [y], 'SVDFOptions', rank=rank, fusedActivationFunction=function)
    content, frames = net.bytes([x], [y]), random.normal(0, 1, (8, BATCH, SIZE)).astype(np.float32)
    np.testing.assert_allclose(carried(content, frames, tmp_path).reshape(8, BATCH, units), frames_of(content, frames),
                               rtol=1e-5, atol=2e-6)


def test_rnn_step_by_step(tmp_path):
    net, random = tflite_net.Net(), np.random.default_rng(7)
    x, y = net.tensor('x', (BATCH, SIZE), np.float32), net.tensor('y', (BATCH, HIDDEN), np.float32)
    make = lambda name, *shape: net.constant(name, random.normal(0, .5, shape).astype(np.float32))  # noqa: E731
    net.operator('RNN', [x, make('w', HIDDEN, SIZE), make('r', HIDDEN, HIDDEN), make('b', HIDDEN),
                         net.variable('state', (BATCH, HIDDEN), np.float32)], [y], 'RNNOptions', fusedActivationFunction=TANH)
    content, frames = net.bytes([x], [y]), random.normal(0, 1, (8, BATCH, SIZE)).astype(np.float32)
    np.testing.assert_allclose(carried(content, frames, tmp_path).reshape(8, BATCH, HIDDEN), frames_of(content, frames),
                               rtol=1e-5, atol=2e-6)


def test_a_float_lstm_becomes_integers(tmp_path):
    """Calibrated and quantized: no product is left in F32; the clip of Keras does not stand in the way of the cell."""
    layer, content = sequence_lstm(LSTMS['keras'])
    random = np.random.default_rng(8)
    (tmp_path / 'net.tflite').write_bytes(content)
    np.save(tmp_path / 'x.npy', random.normal(0, 1, (32, *layer.shape)).astype(np.float32))
    pipeline.run('model_calibrate', tmp_path / 'net.tflite', '--dataset', tmp_path / 'x.npy', '-o', tmp_path / 'table.yaml')
    pipeline.run('model_deploy', tmp_path / 'net.tflite', '--calibration', tmp_path / 'table.yaml', '-o', tmp_path / 'net.rshift')
    assert not pipeline.f32_commands(tmp_path / 'net.rshift')
    x = {'x': random.normal(0, 1, layer.shape).astype(np.float32)}
    goal = litert.outputs_of(content, 'tflite-ref', x)['y0']
    assert oracle.sqnr(pipeline.infer(tmp_path / 'net.rshift', x, tmp_path)['y0'], goal) > 25


def test_what_is_refused_is_named(tmp_path):
    layer = Layer(9)
    inputs = [layer.input(False), *layer.lstm(False, False)]
    inputs[16] = layer.constant(HIDDEN, HIDDEN)  # a projection
    content = layer.finish('UNIDIRECTIONAL_SEQUENCE_LSTM', [*inputs, layer.state('h'), layer.state('c')],
                           'UnidirectionalSequenceLSTMOptions', fusedActivationFunction=TANH)
    (tmp_path / 'net.tflite').write_bytes(content)
    message = pipeline.call('model_deploy', tmp_path / 'net.tflite', '-o', tmp_path / 'net.rshift', '--mode', 'f32').stderr
    assert 'UNIDIRECTIONAL_SEQUENCE_LSTM' in message and 'has a projection behind its output' in message, message
