"""LSTM and GRU in integers against ONNX Runtime's float, in both modes: every form that has cells, states carried
over many runs, and the networks of ../shared that hold them."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import dtln_accuracy
import oracle
import pipeline
from test_operators_integer import instruction_sets

FORMS = {
    'lstm': {},
    'lstm_reverse_batch': {'direction': 'reverse', 'batch': 3},
    'lstm_bidirectional': {'direction': 'bidirectional', 'state': False, 'hidden': 17, 'size': 5},
    'gru': {'kind': 'GRU'},
    'gru_reset_before': {'kind': 'GRU', 'linear': 0, 'batch': 2},
    'gru_bidirectional': {'kind': 'GRU', 'direction': 'bidirectional', 'state': False, 'hidden': 70},
}


def recurrent_model(kind='LSTM', steps=12, batch=1, size=16, hidden=32, direction='forward', state=True, linear=1,
                    **attributes):
    generator = np.random.RandomState(7)
    gates, directions = {'LSTM': 4, 'GRU': 3}[kind], 2 if direction == 'bidirectional' else 1
    reach = 1.5 / np.sqrt(hidden)
    shapes = {'W': (gates * hidden, size), 'R': (gates * hidden, hidden), 'B': (2 * gates * hidden,)}
    weights = [numpy_helper.from_array(generator.uniform(-reach, reach, (directions, *s)).astype('f4'), name)
               for name, s in shapes.items()]
    states = (['h0', 'c0'] if kind == 'LSTM' else ['h0']) if state else []
    outputs = ['y', 'h', 'c'] if kind == 'LSTM' else ['y', 'h']
    if kind == 'GRU':
        attributes['linear_before_reset'] = linear
    node = helper.make_node(kind, ['x', 'W', 'R', 'B', '', *states], outputs, hidden_size=hidden,
                            direction=direction, name='cell', **attributes)
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    own = [directions, batch, hidden]
    graph = helper.make_graph([node], 'g', [value('x', [steps, batch, size]), *(value(s, own) for s in states)],
                              [value('y', [steps, directions, batch, hidden]), *(value(o, own) for o in outputs[1:])],
                              weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8)


def feeds_of(session, seed):
    generator = np.random.RandomState(seed)
    return {i.name: (generator.randn(*i.shape) if i.name == 'x' else np.tanh(generator.randn(*i.shape) / 2))
            .astype('f4') for i in session.get_inputs()}


def calibrate(model, path, samples):
    """`samples`: dictionaries of arrays. Gives the table."""
    onnx.save(model, path / 'net.onnx')
    (path / 'data').mkdir()
    for i, sample in enumerate(samples):
        np.savez(path / 'data' / f'{i:03}.npz', **sample)
    pipeline.run('model_calibrate', path / 'net.onnx', '--dataset', path / 'data', '-o', path / 'table.yaml')
    return path / 'table.yaml'


def run_program(program, sample, path, *options):
    np.savez(path / 'in.npz', **sample)
    pipeline.run('model_runner', program, '--input', path / 'in.npz', '--output', path / 'out.npz', *options)
    return dict(np.load(path / 'out.npz'))


@pytest.mark.parametrize('form', FORMS)
def test_every_form_has_cells_and_is_within_the_noise_of_its_bits(form, tmp_path):
    model = recurrent_model(**FORMS[form])
    session = onnxruntime.InferenceSession(model.SerializeToString())
    table = calibrate(model, tmp_path, [feeds_of(session, i) for i in range(12)])
    sample = feeds_of(session, 1000)
    expected = dict(zip([o.name for o in session.get_outputs()], session.run(None, sample)))
    cell = 'lstm_cell' if 'lstm' in form else 'gru_cell'
    for mode, bits in (('symmetric', 8), ('asymmetric', 8), ('symmetric', 16)):
        program = tmp_path / f'{mode}.rshift'
        pipeline.run('model_deploy', tmp_path / 'net.onnx', '--calibration', table, '--mode', mode, '-o', program, '--activation-bits', bits)
        listing = pipeline.run('model_tool', 'disasm', program)
        steps = 24 if 'bidirectional' in form else 12
        assert listing.count(f' {cell} ') == steps
        assert '_f32 ' not in listing and ' table ' not in listing
        runs = [run_program(program, sample, tmp_path, '--isa', isa, '--threads', threads)
                for isa, threads in instruction_sets()]
        for name, array in expected.items():
            assert runs[0][name].shape == array.shape
            assert oracle.sqnr(runs[0][name], array) >= {8: 33, 16: 39}[bits], (mode, name)
            assert all(np.array_equal(run[name], runs[0][name]) for run in runs)


@pytest.mark.parametrize('kind', ['LSTM', 'GRU'])
def test_states_carried_over_200_runs_do_not_drift(kind, tmp_path):
    model = recurrent_model(kind=kind, steps=1, hidden=40)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    names = [o.name for o in session.get_outputs()]
    frames = np.random.RandomState(3).randn(240, 1, 1, 16).astype('f4')

    def stream(step):
        sample = {i.name: np.zeros(i.shape, 'f4') for i in session.get_inputs()}
        for frame in frames:
            sample['x'] = frame
            outputs = step(dict(sample))
            yield dict(sample), outputs
            sample.update({f'{n}0': outputs[n] for n in names[1:]})

    reference = list(stream(lambda sample: dict(zip(names, session.run(None, sample)))))
    table = calibrate(model, tmp_path, [sample for sample, _ in reference[::3]])
    pipeline.run('model_deploy', tmp_path / 'net.onnx', '--calibration', table, '-o', tmp_path / 'p.rshift')
    own = list(stream(lambda sample: run_program(tmp_path / 'p.rshift', sample, tmp_path)))
    for first, last in ((0, 40), (200, 240)):
        noise = oracle.sqnr(np.stack([o['y'] for _, o in own[first:last]]),
                     np.stack([o['y'] for _, o in reference[first:last]]))
        print(f'{kind} from {first} on: {noise:.1f} dB')
        assert noise >= 33, (first, noise)


# What has no cell keeps the forms it had.
@pytest.mark.parametrize('attributes', [{'clip': 0.9}, {'input_forget': 1}, {'activations': ['Sigmoid', 'Tanh', 'Relu']}],
                         ids=lambda a: next(iter(a)))
def test_other_cells_are_what_they_were(attributes, tmp_path):
    model = recurrent_model(steps=4, **attributes)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    table = calibrate(model, tmp_path, [feeds_of(session, i) for i in range(8)])
    pipeline.run('model_deploy', tmp_path / 'net.onnx', '--calibration', table, '-o', tmp_path / 'p.rshift')
    assert ' lstm_cell ' not in pipeline.run('model_tool', 'disasm', tmp_path / 'p.rshift')
    sample = feeds_of(session, 1000)
    expected = session.run(['y'], sample)[0]
    assert oracle.sqnr(run_program(tmp_path / 'p.rshift', sample, tmp_path)['y'], expected) >= 20


# The cells of one are ONNX's operators, those of the other are written out, with gates in another order.
@pytest.mark.parametrize('part', [1, 2])
def test_dtln_runs_in_cells_with_its_state_carried(part, shared, tmp_path):
    net = dtln_accuracy.Network(shared, part, tmp_path)
    reference = net.reference()
    table = calibrate(onnx.load(net.path), tmp_path, [sample for sample, _ in reference[:60]])
    for mode in ('symmetric', 'asymmetric'):
        program = tmp_path / f'{mode}.rshift'
        pipeline.run('model_deploy', tmp_path / 'net.onnx', '--calibration', table, '--mode', mode, '-o', program)
        assert pipeline.run('model_tool', 'disasm', program).count(' lstm_cell ') == 2
        noise = oracle.sqnr(net.own(program)[60:], np.stack([output for _, output in reference[60:]]))
        print(f'dtln {part} {mode}: {noise:.1f} dB')
        assert noise >= 20, (mode, noise)


def test_a_state_that_is_an_output_and_read_in_f32_and_in_8_bits(tmp_path):
    """Its integers, the float that TopK reads and the output have names of their own."""
    r, node = np.random.default_rng(6), onnx.helper.make_node
    start = [numpy_helper.from_array(r.normal(size=s).astype(np.float32), name) for name, s in (('w', (1, 3, 6)), ('r', (1, 3, 1)), ('m', (1, 4)))]
    start.append(numpy_helper.from_array(np.array([1]), 'one'))
    nodes = [node('GRU', ['x', 'w', 'r'], ['y', 'h'], 'gru', hidden_size=1), node('Softmax', ['h'], ['s'], axis=1), node('TopK', ['h', 'one'], ['v', 'i']),
             node('MatMul', ['v', 'm'], ['p'])]
    outputs = [onnx.helper.make_tensor_value_info(name, 1, None) for name in 'ysp']
    graph = onnx.helper.make_graph(nodes, 'g', [onnx.helper.make_tensor_value_info('x', 1, [2, 3, 6])], outputs, start)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid('', 17)], ir_version=8), tmp_path / 'm.onnx')
    x = r.normal(size=(8, 2, 3, 6)).astype(np.float32)
    np.savez(tmp_path / 'x.npz', x=x)
    table = pipeline.calibrate(tmp_path / 'm.onnx', tmp_path / 'x.npz', tmp_path / 't.yaml', samples=0)
    expected = onnxruntime.InferenceSession(str(tmp_path / 'm.onnx')).run(None, {'x': x[0]})
    for mode in pipeline.INTEGER_MODES:
        pipeline.deploy(tmp_path / 'm.onnx', tmp_path / 'p', mode=mode, table=table)
        found = pipeline.infer(tmp_path / 'p', {'x': x[0]}, tmp_path)
        for name, value in zip('ysp', expected):
            assert np.max(np.abs(found[name] - value)) <= 0.05 * max(np.max(np.abs(value)), 0.1), name
