"""--emit-qdq, --emit-fakequantize: ONNX Runtime and OpenVINO run the quantized model, and give what our program gives."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import pipeline
from frameworks.ort import exact_sums
from little_onnx import save

ort = pytest.importorskip('onnxruntime')

# What is written has the model's own weights: a table that equalizes is refused (test_equalization.py).
AS_IT_IS = ('--equalize', 'off')


def net(path):
    """Convolutions of each form, a skip, a Concat, pools, a Gemm and Sigmoid."""
    rng = np.random.default_rng(31)
    shapes = {'w1': (16, 3, 3, 3), 'b1': (16,), 'w2': (16, 1, 3, 3), 'w3': (16, 16, 1, 1), 'w4': (8, 32, 1, 1),
              'w5': (8, 10), 'b5': (10,)}
    constants = [numpy_helper.from_array((rng.normal(size=s) / 3).astype(np.float32), n) for n, s in shapes.items()]
    node = helper.make_node
    nodes = [node('Conv', ['x', 'w1', 'b1'], ['c1'], name='stem', pads=[1] * 4, strides=[2, 2]),
             node('Relu', ['c1'], ['r1']),
             node('Conv', ['r1', 'w2'], ['c2'], name='depthwise', pads=[1] * 4, group=16),
             node('LeakyRelu', ['c2'], ['l2'], alpha=0.125), node('Conv', ['l2', 'w3'], ['c3'], name='pointwise'),
             node('Add', ['c3', 'r1'], ['s']), node('Concat', ['s', 'r1'], ['k'], axis=1),
             node('MaxPool', ['k'], ['m'], kernel_shape=[2, 2], strides=[2, 2]),
             node('Conv', ['m', 'w4'], ['c4'], name='narrow'), node('Sigmoid', ['c4'], ['g4']),
             node('GlobalAveragePool', ['g4'], ['p']), node('Flatten', ['p'], ['f']),
             node('Gemm', ['f', 'w5', 'b5'], ['y'], name='classify')]
    save(path, nodes, {'x': (1, 3, 16, 16)}, ['y'], constants, opset=13)


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp('qdq')
    net(where / 'net.onnx')
    np.save(where / 'x.npy', np.random.default_rng(32).normal(size=(32, 3, 16, 16)).astype(np.float32))
    pipeline.calibrate(where / 'net.onnx', where / 'x.npy', where / 'net.table.yaml', extra=AS_IT_IS)
    return where


def both(model, table, samples, tmp_path, mode, extra=(), quantized=None):
    """Outputs of ONNX Runtime and of our program, [samples, ...] each, and the scale of the output, or of `quantized`."""
    pipeline.deploy(model, tmp_path / 'p.rshift', mode=mode, table=table, extra=('--emit-qdq', tmp_path / 'q.onnx', *extra))
    onnx.checker.check_model(onnx.load(tmp_path / 'q.onnx'), full_check=True)
    pipeline.run('model_runner', tmp_path / 'p.rshift', '--dataset', samples, '--output', tmp_path / 'ours.npz')
    session = ort.InferenceSession(tmp_path / 'q.onnx', exact_sums(), providers=['CPUExecutionProvider'])
    name = session.get_inputs()[0].name
    theirs = np.stack([session.run(None, {name: x[None]})[0][0] for x in np.load(samples)])
    scales = {i.name: numpy_helper.to_array(i) for i in onnx.load(tmp_path / 'q.onnx').graph.initializer}
    for weights in (n.removesuffix('/q') for n in scales if n.endswith('/q')):
        assert scales[weights + '/zero_point'].shape == scales[weights + '/scale'].shape, weights
    ours = pipeline.single(tmp_path / 'ours.npz')
    scale = scales[(quantized or session.get_outputs()[0].name) + '/scale']
    return theirs.reshape(ours.shape), ours, float(scale)


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
def test_onnxruntime_agrees_within_a_few_quanta(mode, folder, tmp_path):
    theirs, ours, scale = both(folder / 'net.onnx', folder / 'net.table.yaml', folder / 'x.npy', tmp_path, mode)
    quanta = np.abs(theirs - ours) / scale
    print(f'{mode}: equal {np.mean(quanta < 0.5):.3f}, within one quantum {np.mean(quanta < 1.5):.3f}')
    # Roundings differ (ours: multipliers, LeakyRelu and Sigmoid in tables), never more than a few quanta.
    assert np.mean(quanta < 1.5) > 0.95 and quanta.max() < 4.5


def test_example_network(tmp_path):
    if not pipeline.TEST_IMAGES.exists():
        pytest.skip('needs the Fashion-MNIST data set of Debian')
    import gzip
    images = np.frombuffer(gzip.open(pipeline.TEST_IMAGES).read()[16:], np.uint8).reshape(-1, 1, 28, 28)[:200]
    np.save(tmp_path / 'x.npy', images.astype(np.float32) / 255)
    pipeline.calibrate(pipeline.EXAMPLE, tmp_path / 'x.npy', tmp_path / 't.yaml', extra=AS_IT_IS)
    theirs, ours, _ = both(pipeline.EXAMPLE, tmp_path / 't.yaml', tmp_path / 'x.npy', tmp_path, 'symmetric')
    same = np.mean(theirs.argmax(axis=1) == ours.argmax(axis=1))
    print(f'the same class {same:.3f}')
    assert same > 0.97


def spelled_out(model):
    """Every FakeQuantize as the operators of its definition, for ONNX Runtime, which does not have it."""
    nodes, constants = [], [numpy_helper.from_array(np.float32(255), 'steps')]
    for n in model.graph.node:
        if n.op_type != 'FakeQuantize':
            nodes.append(n)
            continue
        assert n.domain == 'org.openvinotoolkit' and n.attribute[0].i == 256
        x, lo, hi, out_lo, out_hi = n.input
        def step(op, *inputs, out):
            nodes.append(helper.make_node(op, list(inputs), [out]))
            return out
        name = n.output[0]
        clipped = step('Min', step('Max', x, lo, out=name + '/a'), hi, out=name + '/b')
        width = step('Sub', hi, lo, out=name + '/c')
        share = step('Div', step('Sub', clipped, lo, out=name + '/d'), width, out=name + '/e')
        level = step('Round', step('Mul', share, 'steps', out=name + '/f'), out=name + '/g')
        back = step('Div', step('Mul', level, step('Sub', out_hi, out_lo, out=name + '/h'), out=name + '/i'), 'steps',
                    out=name + '/j')
        step('Add', back, out_lo, out=name)
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    model.graph.initializer.extend(constants)
    while len(model.opset_import) > 1:
        del model.opset_import[1]
    return model


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
def test_fakequantize_form_is_the_same_network(mode, folder, tmp_path):
    pipeline.deploy(folder / 'net.onnx', tmp_path / 'p.rshift', mode=mode, table=folder / 'net.table.yaml',
                    extra=('--emit-fakequantize', tmp_path / 'fq.onnx', '--emit-qdq', tmp_path / 'q.onnx'))
    model = onnx.load(tmp_path / 'fq.onnx')
    scale = next(float(numpy_helper.to_array(i)) for i in onnx.load(tmp_path / 'q.onnx').graph.initializer
                 if i.name == 'y/scale')
    pipeline.run('model_runner', tmp_path / 'p.rshift', '--dataset', folder / 'x.npy', '--output', tmp_path / 'o.npz')
    ours, samples = pipeline.single(tmp_path / 'o.npz'), np.load(folder / 'x.npy')
    session = ort.InferenceSession(spelled_out(onnx.load(tmp_path / 'fq.onnx')).SerializeToString())
    theirs = np.stack([session.run(None, {'x': x[None]})[0][0] for x in samples])
    quanta = np.abs(theirs - ours) / scale
    print(f'{mode}: within one quantum {np.mean(quanta < 1.5):.3f}, most {quanta.max():.2f}')
    assert np.mean(quanta < 1.5) > 0.95 and quanta.max() < 4.5
    assert sum(n.op_type == 'FakeQuantize' for n in model.graph.node) > 10
    assert not any(n.op_type == 'QuantizeLinear' for n in model.graph.node)


def test_openvino_runs_both_forms(folder, tmp_path):
    ov = pytest.importorskip('openvino')
    pipeline.deploy(folder / 'net.onnx', tmp_path / 'p.rshift', mode='symmetric', table=folder / 'net.table.yaml',
                    extra=('--emit-fakequantize', tmp_path / 'fq.onnx', '--emit-qdq', tmp_path / 'q.onnx'))
    pipeline.run('model_runner', tmp_path / 'p.rshift', '--dataset', folder / 'x.npy', '--output', tmp_path / 'o.npz')
    ours, samples = pipeline.single(tmp_path / 'o.npz'), np.load(folder / 'x.npy')
    for form in ('q', 'fq'):
        compiled = ov.Core().compile_model(tmp_path / f'{form}.onnx', 'CPU')
        theirs = np.stack([compiled([x[None]])[0][0] for x in samples])
        print(form, 'correlation', np.corrcoef(theirs.ravel(), ours.ravel())[0, 1])
        assert np.corrcoef(theirs.ravel(), ours.ravel())[0, 1] > 0.99


def test_our_own_import_takes_it_back(folder, tmp_path):
    """Scales, zero points and integers of weights are the program's."""
    pipeline.deploy(folder / 'net.onnx', tmp_path / 'a.rshift', mode='asymmetric', table=folder / 'net.table.yaml',
                    extra=('--emit-qdq', tmp_path / 'q.onnx'))
    pipeline.run('model_deploy', tmp_path / 'q.onnx', '-o', tmp_path / 'b.rshift', '--no-check')
    outputs = []
    for name in 'ab':
        pipeline.run('model_runner', tmp_path / f'{name}.rshift', '--dataset', folder / 'x.npy', '--output',
                     tmp_path / f'{name}.npz')
        outputs.append(pipeline.single(tmp_path / f'{name}.npz'))
    assert np.corrcoef(outputs[0].ravel(), outputs[1].ravel())[0, 1] > 0.999


@pytest.mark.parametrize('kind', ({'mode': 'nearest', 'scales': (2, 2)}, {'mode': 'nearest', 'sizes': (7, 5)},
                                  {'mode': 'linear', 'scales': (1.5, 2)}, {'mode': 'linear', 'scales': (0.7, 1.4), 'shape': (10, 9)},
                                  {'mode': 'linear', 'sizes': (11, 7), 'coordinate_transformation_mode': 'align_corners'},
                                  {'mode': 'cubic', 'scales': (2, 2), 'cubic_coeff_a': -0.5, 'exclude_outside': 1}))
def test_resize(kind, tmp_path):
    attributes = {k: v for k, v in kind.items() if k not in ('scales', 'sizes', 'shape')}
    shape = (1, 3, *kind.get('shape', (6, 6)))
    w = np.random.default_rng(61).normal(size=(4, 3, 3, 3)).astype(np.float32) / 3
    by = numpy_helper.from_array(np.array([1, 1, *kind['scales']], np.float32) if 'scales' in kind else
                                 np.array([1, 4, *kind['sizes']], np.int64), 'by')
    nodes = [helper.make_node('Conv', ['x', 'w'], ['c'], name='conv', pads=[1] * 4),
             helper.make_node('Resize', ['c', '', 'by'] if 'scales' in kind else ['c', '', '', 'by'], ['y'], name='up', **attributes)]
    save(tmp_path / 'n.onnx', nodes, {'x': shape}, ['y'], [numpy_helper.from_array(w, 'w'), by], opset=13)
    np.save(tmp_path / 'x.npy', np.random.default_rng(62).normal(size=(8, *shape[1:])).astype(np.float32))
    pipeline.calibrate(tmp_path / 'n.onnx', tmp_path / 'x.npy', tmp_path / 't.yaml', extra=AS_IT_IS)
    theirs, ours, scale = both(tmp_path / 'n.onnx', tmp_path / 't.yaml', tmp_path / 'x.npy', tmp_path, 'symmetric', quantized='c')
    assert (np.abs(theirs - ours) / scale).max() < 2.5


def test_nodes_in_f32_have_no_integers(folder, tmp_path):
    (tmp_path / 'c.yaml').write_text('layers:\n  pointwise: {mode: f32}\n')
    theirs, ours, scale = both(folder / 'net.onnx', folder / 'net.table.yaml', folder / 'x.npy', tmp_path, 'symmetric',
                               ('--config', tmp_path / 'c.yaml'))
    assert (np.abs(theirs - ours) / scale).max() < 4.5
    names = {i.name for i in onnx.load(tmp_path / 'q.onnx').graph.initializer}
    assert 'w4/q' in names and 'w3/q' not in names


def test_wrong_usage(folder, tmp_path):
    pipeline.deploy(folder / 'net.onnx', tmp_path / 'p', mode='symmetric', table=folder / 'net.table.yaml',
                    extra=('--emit-qdq', tmp_path / 'q.onnx'))
    error = pipeline.fails('model_deploy', tmp_path / 'q.onnx', '-o', tmp_path / 'p2', '--emit-qdq', tmp_path / 'r.onnx')
    assert 'already' in error and not (tmp_path / 'r.onnx').exists()
    done = pipeline.call('model_deploy', folder / 'net.onnx', '--mode', 'f32', '-o', tmp_path / 'p', '--emit-qdq',
                         tmp_path / 'r.onnx')
    assert done.returncode == 2 and '--emit-qdq' in done.stderr


@pytest.mark.parametrize('op', ('Mul', 'Add', 'Sub'))
def test_a_constant_operand_has_the_integers_of_the_program(op, tmp_path):
    """Byte for byte under the profile of ONNX Runtime."""
    rng, node = np.random.default_rng(4), helper.make_node
    weights = numpy_helper.from_array((rng.normal(size=(8, 3, 3, 3)) / 4).astype(np.float32), 'w')
    factor = numpy_helper.from_array(np.float32(0.37), 'factor')
    save(tmp_path / 'net.onnx', [node(op, ['x', 'factor'], ['m'], name='first'), node('Conv', ['m', 'w'], ['y'], name='conv')],
         {'x': (1, 3, 12, 12)}, ['y'], [weights, factor], opset=13)
    np.save(tmp_path / 'x.npy', rng.normal(size=(16, 3, 12, 12)).astype(np.float32))
    pipeline.calibrate(tmp_path / 'net.onnx', tmp_path / 'x.npy', tmp_path / 'table.yaml', extra=AS_IT_IS)
    theirs, ours, _ = both(tmp_path / 'net.onnx', tmp_path / 'table.yaml', tmp_path / 'x.npy', tmp_path, 'asymmetric', ('--profile', 'onnxruntime'))
    np.testing.assert_array_equal(theirs, ours)


def lists(rng):
    """Graphs of one input [1, 4, 6], whose operators hold other numbers than their constants, or none at all."""
    node, c = helper.make_node, lambda name, values: numpy_helper.from_array(np.asarray(values, np.float32), name)
    far = c('c', rng.uniform(0.2, 9, (1, 4, 6)))
    two = c('c', rng.choice([0.5, 1], (1, 4, 6)))  # near their places in a list of both
    lstm = [c('w', rng.normal(size=(1, 12, 6)) / 3), c('r', rng.normal(size=(1, 12, 3)) / 3)]
    convs = [c('w', rng.normal(size=(5, 4, 3)) / 4), c('b', rng.normal(size=5)), c('v', rng.normal(size=(3, 5, 1)) / 4), c('e', rng.normal(size=3))]
    stem = [node('Reshape', ['x', 'image'], ['i']), node('Conv', ['i', 'f'], ['k'], name='first', pads=[1] * 4), node('Relu', ['k'], ['l'])]
    image = [c('f', rng.normal(size=(3, 2, 3, 3)) / 4), numpy_helper.from_array(np.array([1, 2, 4, 3]), 'image')]
    flat = c('m', rng.normal(size=(36, 5)) / 6)
    rnn = [c('w', rng.normal(size=(2, 5, 6)) / 3), c('r', rng.normal(size=(2, 5, 5)) / 3), c('b', rng.normal(size=(2, 10)) / 4)]
    return {'Flatten of a picture': ([*stem, node('Flatten', ['l'], ['s']), node('Gemm', ['s', 'm'], ['y'], name='last')], [*image, flat]),
            'Flatten of a line': ([node('Conv', ['x', 'w'], ['k'], name='first', pads=[1, 1]), node('Flatten', ['k'], ['s']), node('MatMul', ['s', 'm'], ['y'], name='last')],
                                  [convs[0], c('m', rng.normal(size=(30, 5)) / 6)]),
            'Softplus of a line': ([node('Conv', ['x', 'w', 'b'], ['k'], name='first'), node('Softplus', ['k'], ['y'])], convs[:2]),
            'RNN of one step': ([node('RNN', ['x', 'w', 'r', 'b'], ['y'], name='first', hidden_size=5, direction='bidirectional')], rnn),
            'Div': ([node('Div', ['x', 'c'], ['y'], name='first')], [far]), 'constant Div': ([node('Div', ['c', 'p'], ['y'], name='first')], [far]),
            'Div of two': ([node('Div', ['x', 'c'], ['y'], name='first')], [two]),
            'Div of channels': ([node('Div', ['x', 'c'], ['y'], name='first')], [c('c', [[0.5], [1.2], [2.6], [3]])]),
            'PRelu of two': ([node('PRelu', ['x', 's'], ['y'], name='first')], [c('s', rng.choice([0.2, 0.9], (4, 6)))]),
            'PRelu': ([node('PRelu', ['x', 's'], ['y'], name='first')], [c('s', rng.uniform(-1, 1, (4, 6)))]),
            'Mod': ([node('Mod', ['x', 'm'], ['y'], name='first', fmod=1)], [c('m', 0.7)]),
            'LSTM': ([node('LSTM', ['x', 'w', 'r'], ['y'], name='first', hidden_size=3)], lstm),
            'Conv of lines': ([node('Conv', ['x', 'w', 'b'], ['k'], name='first', pads=[1, 1]), node('Relu', ['k'], ['l']),
                               node('Conv', ['l', 'v', 'e'], ['y'], name='second')], convs)}


@pytest.mark.parametrize('kind', lists(np.random.default_rng(0)))
@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
def test_what_is_written_is_what_the_model_says(kind, mode, tmp_path):
    """As near to the float model as our program, and nearer: constants that commands hold in another form are written as they are."""
    rng = np.random.default_rng(9)
    nodes, constants = lists(rng)[kind]
    nodes = [helper.make_node('Abs', ['x'], ['a']), helper.make_node('Add', ['a', 'one'], ['p']), *nodes] if kind == 'constant Div' else nodes
    save(tmp_path / 'net.onnx', nodes, {'x': (1, 4, 6)}, ['y'], [*constants, numpy_helper.from_array(np.float32(0.3), 'one')])
    x = rng.normal(size=(20, 4, 6)).astype(np.float32)
    np.save(tmp_path / 'x.npy', x)
    pipeline.calibrate(tmp_path / 'net.onnx', tmp_path / 'x.npy', tmp_path / 't.yaml', samples=20, extra=(*AS_IT_IS, '--method', 'minmax'))
    pipeline.deploy(tmp_path / 'net.onnx', tmp_path / 'p.rshift', mode=mode, table=tmp_path / 't.yaml', extra=('--emit-qdq', tmp_path / 'q.onnx'))
    onnx.checker.check_model(onnx.load(tmp_path / 'q.onnx'), full_check=True)
    outputs = []
    for path in ('net.onnx', 'q.onnx'):
        session = ort.InferenceSession(tmp_path / path, exact_sums(), providers=['CPUExecutionProvider'])
        outputs.append(np.stack([session.run(None, {'x': one[None]})[0] for one in x]))
    pipeline.run('model_runner', tmp_path / 'p.rshift', '--dataset', tmp_path / 'x.npy', '--output', tmp_path / 'ours.npz')
    wanted, written = outputs
    ours = pipeline.single(tmp_path / 'ours.npz').reshape(wanted.shape)
    noise = [float(((found - wanted) ** 2).sum() / (wanted ** 2).sum()) for found in (written, ours)]
    assert noise[0] <= 1.1 * noise[1] < 0.1, noise


def test_means_and_norms_are_written(tmp_path):
    """ReduceMean over space, a root mean square and an InstanceNorm, which is F32 in the program."""
    rng, node = np.random.default_rng(5), helper.make_node
    constants = [numpy_helper.from_array((rng.normal(size=(8, 3, 3, 3)) / 4).astype(np.float32), 'w'),
                 numpy_helper.from_array(rng.uniform(.5, 1, 8).astype(np.float32), 'g'), numpy_helper.from_array(rng.normal(size=8).astype(np.float32), 'b'),
                 numpy_helper.from_array((rng.normal(size=(8, 10)) / 3).astype(np.float32), 'v'), numpy_helper.from_array(np.float32(1e-5), 'e')]
    nodes = [node('Conv', ['x', 'w'], ['c'], name='conv'), node('InstanceNormalization', ['c', 'g', 'b'], ['n']), node('ReduceMean', ['n'], ['p'], axes=[2, 3], keepdims=0),
             node('Mul', ['p', 'p'], ['s']), node('ReduceMean', ['s'], ['q'], axes=[1], keepdims=1), node('Add', ['q', 'e'], ['qe']), node('Sqrt', ['qe'], ['r']),
             node('Div', ['p', 'r'], ['d']), node('Mul', ['d', 'g'], ['z']), node('MatMul', ['z', 'v'], ['y'], name='last')]
    save(tmp_path / 'net.onnx', nodes, {'x': (1, 3, 12, 12)}, ['y'], constants, opset=13)
    np.save(tmp_path / 'x.npy', rng.normal(size=(16, 3, 12, 12)).astype(np.float32))
    pipeline.calibrate(tmp_path / 'net.onnx', tmp_path / 'x.npy', tmp_path / 'table.yaml', extra=AS_IT_IS)
    theirs, ours, scale = both(tmp_path / 'net.onnx', tmp_path / 'table.yaml', tmp_path / 'x.npy', tmp_path, 'asymmetric')
    assert np.mean(np.abs(theirs - ours) / scale < 2.5) > .9


def test_what_cannot_be_written_is_said_before_anything_is_measured(tmp_path):
    w = numpy_helper.from_array(np.ones((3, 4, 2, 2), np.float32), 'w')
    save(tmp_path / 'net.onnx', [helper.make_node('ConvTranspose', ['x', 'w'], ['y'], name='up')], {'x': (1, 3, 6, 6)}, ['y'], [w], opset=13)
    error = pipeline.fails('model_deploy', tmp_path / 'net.onnx', '--calibration', tmp_path / 'no.table.yaml', '-o', tmp_path / 'p', '--emit-qdq', tmp_path / 'q.onnx')
    assert 'up: ConvTranspose cannot be written as ONNX yet' in error


def test_outputs_of_other_types_and_constant_ones(tmp_path):
    rng, node = np.random.default_rng(7), helper.make_node
    nodes = [node('Conv', ['x', 'w'], ['y'], name='conv'), node('Greater', ['y', 'zero'], ['b']), node('Identity', ['w'], ['c'])]
    outputs = [helper.make_tensor_value_info('y', TensorProto.FLOAT, None), helper.make_tensor_value_info('b', TensorProto.BOOL, None), helper.make_tensor_value_info('c', TensorProto.FLOAT, None)]
    constants = [numpy_helper.from_array((rng.normal(size=(4, 3, 3, 3)) / 4).astype(np.float32), 'w'), numpy_helper.from_array(np.float32(0), 'zero')]
    graph = helper.make_graph(nodes, 'net', [helper.make_tensor_value_info('x', TensorProto.FLOAT, (1, 3, 8, 8))], outputs, constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=7), tmp_path / 'net.onnx')
    x = rng.normal(size=(16, 3, 8, 8)).astype(np.float32)
    np.save(tmp_path / 'x.npy', x)
    table = pipeline.calibrate(tmp_path / 'net.onnx', tmp_path / 'x.npy', tmp_path / 't.yaml', samples=16, extra=AS_IT_IS)
    pipeline.deploy(tmp_path / 'net.onnx', tmp_path / 'p', mode='asymmetric', table=table, extra=('--emit-qdq', tmp_path / 'q.onnx'))
    onnx.checker.check_model(onnx.load(tmp_path / 'q.onnx'), full_check=True)
    wanted, found = (ort.InferenceSession(tmp_path / name).run(['y', 'b', 'c'], {'x': x[:1]}) for name in ('net.onnx', 'q.onnx'))
    assert [v.dtype for v in found] == [v.dtype for v in wanted]
    assert np.array_equal(found[2], wanted[2]) and np.mean(found[1] == wanted[1]) > 0.9


def test_an_output_that_is_an_input(tmp_path):
    graph = helper.make_graph([helper.make_node('Relu', ['x'], ['y'])], 'net', [helper.make_tensor_value_info('x', TensorProto.FLOAT, (1, 4))],
                              [helper.make_tensor_value_info(name, TensorProto.FLOAT, (1, 4)) for name in 'yx'])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=7), tmp_path / 'net.onnx')
    x = np.random.default_rng(8).normal(size=(8, 4)).astype(np.float32)
    np.save(tmp_path / 'x.npy', x)
    table = pipeline.calibrate(tmp_path / 'net.onnx', tmp_path / 'x.npy', tmp_path / 't.yaml', samples=8, extra=AS_IT_IS)
    pipeline.deploy(tmp_path / 'net.onnx', tmp_path / 'p', mode='symmetric', table=table, extra=('--emit-qdq', tmp_path / 'q.onnx'))
    assert np.array_equal(ort.InferenceSession(tmp_path / 'q.onnx').run(['x'], {'x': x[:1]})[0], x[:1])
