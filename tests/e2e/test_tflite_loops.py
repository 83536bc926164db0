"""WHILE of .tflite files, which Keras' GRU, SimpleRNN and masked LSTM are made of: unrolled where the number of runs is fixed, against LiteRT."""

import numpy as np
import pytest

pytest.importorskip('ai_edge_litert', reason='ai-edge-litert is not installed: LiteRT is not compared')

import pipeline  # noqa: E402
from frameworks import litert, tflite_net  # noqa: E402
from frameworks.ours import outputs_of as ours_of  # noqa: E402

T, I, H = 5, 4, 3  # steps, inputs, units


class Net(tflite_net.Net):
    def subgraph(self, build):
        """The number of a subgraph; build() adds it and gives its inputs and outputs."""
        tensors, operators = self.tensors, self.operators
        self.tensors, self.operators = [], []
        inputs, outputs = build()
        self.others.append(self.graph(inputs, outputs, f'loop{len(self.others)}'))
        self.tensors, self.operators = tensors, operators
        return len(self.others)

    def fresh(self, shape, dtype=np.float32, **more):
        return self.tensor(f't{len(self.tensors)}', shape, dtype, **more)

    def made(self, code, inputs, shape, options=None, dtype=np.float32, quant=None, **fields):
        y = self.fresh(shape, dtype, quant=quant)
        self.operator(code, inputs, [y], options, **fields)
        return y

    def number(self, value):
        return self.constant(f'c{len(self.tensors)}', np.array(value, np.int32))

    def loop(self, held, condition, body):
        """held: tensors, of which the first is counted; condition(first) and body(*held) add operators of the subgraphs."""
        kept = [self.tensors[t] for t in held]

        def again():
            return [self.fresh(t.shape, {v: k for k, v in tflite_net.TYPES.items()}[t.type], quant=(t.quantization.scale, t.quantization.zeroPoint) if t.quantization else None)
                    for t in kept]

        def first():
            inputs = again()
            return inputs, [condition(*inputs)]

        def second():
            inputs = again()
            return inputs, body(*inputs)

        numbers = self.subgraph(first), self.subgraph(second)
        outputs = again()
        self.operator('WHILE', held, outputs, 'WhileOptions', condSubgraphIndex=numbers[0], bodySubgraphIndex=numbers[1])
        return outputs

    def below(self, number, end):
        return self.made('LESS', [number, self.number(end)], (), dtype=bool)

    def next(self, number, step=1):
        return self.made('ADD', [number, self.number(step)], (), 'AddOptions', np.int32)


def recurrent(random, steps=T):
    """h = tanh(W x[t] + R h) for each t, all of them: as Keras writes SimpleRNN(return_sequences=True)."""
    net = Net()
    w, r = random.normal(size=(H, I)).astype(np.float32), random.normal(size=(H, H)).astype(np.float32)
    x = net.tensor('x', (T, 1, I), np.float32)
    all_h, h = net.constant('all', np.zeros((T, 1, H), np.float32)), net.constant('h', np.zeros((1, H), np.float32))

    def condition(i, t, *_):
        return net.made('LOGICAL_AND', [net.below(i, steps), net.below(t, steps)], (), dtype=bool)

    def body(i, t, every, h, x):
        now = net.made('GATHER', [x, t], (1, I), 'GatherOptions')
        taken = net.made('FULLY_CONNECTED', [now, net.constant('w', w), -1], (1, H), 'FullyConnectedOptions')
        kept = net.made('FULLY_CONNECTED', [h, net.constant('r', r), -1], (1, H), 'FullyConnectedOptions')
        new = net.made('TANH', [net.made('ADD', [taken, kept], (1, H), 'AddOptions')], (1, H))
        start = net.made('PACK', [t, net.number(0), net.number(0)], (3,), 'PackOptions', np.int32, valuesCount=3)
        row = net.made('RESHAPE', [new, net.constant('s', np.array([1, 1, H], np.int32))], (1, 1, H))
        return [net.next(i), net.next(t), net.made('DYNAMIC_UPDATE_SLICE', [every, row, start], (T, 1, H)), new, x]

    outputs = net.loop([net.number(0), net.number(0), all_h, h, x], condition, body)
    return net, x, outputs


def test_a_recurrent_layer(tmp_path):
    """Its rows, its last state, and the counter."""
    random = np.random.default_rng(1)
    net, x, outputs = recurrent(random)
    content, samples = net.bytes([x], [outputs[2], outputs[3], outputs[0]]), {'x': random.normal(size=(T, 1, I)).astype(np.float32)}
    theirs = litert.outputs_of(content, 'tflite-ref', samples)
    ours = ours_of(content, samples, tmp_path, '--mode', 'f32')
    assert len(theirs) == 3
    for key, goal in theirs.items():
        assert ours[key].shape == goal.shape and ours[key].dtype == goal.dtype
        np.testing.assert_allclose(ours[key], goal, rtol=1e-5, atol=1e-6)


def test_it_is_calibrated(tmp_path):
    """And computed in integers: the products and functions of every step."""
    random = np.random.default_rng(2)
    net, x, outputs = recurrent(random)
    content, samples = net.bytes([x], [outputs[2]]), random.normal(size=(40, T, 1, I)).astype(np.float32)
    (tmp_path / 'net.tflite').write_bytes(content)
    np.savez(tmp_path / 'x.npz', x=samples)
    pipeline.run('model_calibrate', tmp_path / 'net.tflite', '--dataset', tmp_path / 'x.npz', '-o', tmp_path / 't.yaml')
    pipeline.run('model_deploy', tmp_path / 'net.tflite', '--calibration', tmp_path / 't.yaml', '-o', tmp_path / 'net.rshift')
    goal = next(iter(litert.outputs_of(content, 'tflite-ref', {'x': samples[0]}).values()))
    ours = next(iter(pipeline.infer(tmp_path / 'net.rshift', {'x': samples[0]}, tmp_path).values()))
    assert np.linalg.norm(ours - goal) < .1 * np.linalg.norm(goal)


def test_bytes_within_a_loop(tmp_path):
    """x += x / 2 three times, in LiteRT's three ways."""
    net, quant = Net(), (np.float32(.05), 3)
    x = net.tensor('x', (2, 40), np.int8, quant)
    half = np.random.default_rng(3).integers(-128, 128, (1, 40)).astype(np.int8)
    outputs = net.loop([net.number(0), x], lambda i, _: net.below(i, 3),
                       lambda i, x: [net.next(i), net.made('ADD', [x, net.constant('half', half, (np.float32(.02), 0))], (2, 40), 'AddOptions', np.int8, quant)])
    content = net.bytes([x], [outputs[1]])
    samples = {'x': np.random.default_rng(4).integers(-128, 128, (2, 40)).astype(np.int8)}
    for profile in litert.WAYS:
        goal = next(iter(litert.outputs_of(content, profile, samples).values()))
        ours = next(iter(ours_of(content, samples, tmp_path, '--profile', profile).values()))
        assert ours.dtype == goal.dtype and (ours == goal).all(), profile


@pytest.mark.parametrize('begin', (0, 2, 9), ids=('runs', 'one', 'none'))
def test_a_loop_within_a_loop(begin, tmp_path):
    """Of 3 - begin runs, each of 2; what runs never gives what it was given."""
    net = Net()
    x = net.tensor('x', (2, 3), np.float32)

    def inner(x):
        def body(i, x):
            return [net.next(i), net.made('MUL', [x, net.constant('m', np.array([1, .5, 3], np.float32))], (2, 3), 'MulOptions')]
        return net.loop([net.number(0), x], lambda i, _: net.below(i, 2), body)[1]

    outputs = net.loop([net.number(begin), x], lambda i, _: net.below(i, 3), lambda i, x: [net.next(i), net.made('ABS', [inner(x)], (2, 3))])
    y = net.made('ADD', [outputs[1], net.constant('one', np.ones(3, np.float32))], (2, 3), 'AddOptions')
    content, samples = net.bytes([x], [y]), {'x': np.random.default_rng(5).normal(size=(2, 3)).astype(np.float32)}
    goal = next(iter(litert.outputs_of(content, 'tflite-ref', samples).values()))
    ours = next(iter(ours_of(content, samples, tmp_path, '--mode', 'f32').values()))
    np.testing.assert_allclose(ours, goal, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize('why', ('read', 'endless'))
def test_a_number_of_runs_that_is_not_fixed_is_refused(why, tmp_path):
    net = Net()
    x, end = net.tensor('x', (2, 3), np.float32), net.tensor('end', (), np.int32)
    outputs = net.loop([net.number(0), x, end],
                       lambda i, _, end: net.made('LESS', [i, end], (), dtype=bool) if why == 'read' else net.below(i, 3),
                       lambda i, x, end: [net.next(i, 1 if why == 'read' else 0), net.made('ABS', [x], (2, 3)), end])
    (tmp_path / 'net.tflite').write_bytes(net.bytes([x, end], [outputs[1]]))
    done = pipeline.call('model_deploy', tmp_path / 'net.tflite', '--mode', 'f32', '-o', tmp_path / 'net.rshift')
    assert done.returncode == 1
    assert 'WHILE' in done.stderr and 'how often it runs' in done.stderr
