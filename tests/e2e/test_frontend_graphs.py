"""Control flow and functions of the model, unrolled at import; whole networks with state; what is said where that is impossible."""

import re

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import pipeline
from test_frontend_operators import expected_of


def value(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def model_of(nodes, inputs, outputs, constants=(), functions=(), opset=17, domains=()):
    fixed = [numpy_helper.from_array(a, n) for n, a in dict(constants).items()]
    graph = helper.make_graph(nodes, 'graph', inputs, [onnx.ValueInfoProto(name=n) for n in outputs], fixed)
    opsets = [helper.make_opsetid('', opset)] + [helper.make_opsetid(d, 1) for d in domains]
    return helper.make_model(graph, opset_imports=opsets, functions=functions, ir_version=9)


def body_of(nodes, inputs, outputs, constants=()):
    fixed = [numpy_helper.from_array(a, n) for n, a in dict(constants).items()]
    return helper.make_graph(nodes, 'body', [onnx.ValueInfoProto(name=n) for n in inputs],
                             [onnx.ValueInfoProto(name=n) for n in outputs], fixed)


def typed(graph, **types):
    """ONNX Runtime wants types in bodies."""
    for info in [*graph.input, *graph.output]:
        info.CopyFrom(value(info.name, [] if info.name in types else None, types.get(info.name, TensorProto.FLOAT)))
    return graph


def compare(model, feeds, folder, extra=()):
    path, program, out = folder / 'model.onnx', folder / 'program', folder / 'out.npz'
    onnx.save(model, path)
    pipeline.run('model_deploy', path, '--mode', 'f32', '-o', program, *extra)
    given = []
    for name, array in feeds.items():
        np.save(folder / f'{name}.npy', array)
        given += ['--input', f'{name}={folder / name}.npy']
    pipeline.run('model_runner', program, *given, '--output', out, '--raw', '--threads', 1)
    with np.load(out) as outputs:
        for name, expected in expected_of(model, feeds).items():
            np.testing.assert_allclose(outputs[name], expected, rtol=1e-5, atol=1e-6, err_msg=name)


def refusal(path, folder):
    done = pipeline.call('model_deploy', path, '--mode', 'f32', '-o', folder / 'program')
    assert done.returncode == 1 and not (folder / 'program').exists()
    return done.stderr


X = np.random.default_rng(7).uniform(-1, 1, (3, 4)).astype(np.float32)


def branches(condition):
    """If reads x of the graph around it; its branches have names of their own in common."""
    then = typed(body_of([helper.make_node('Mul', ['x', 'two'], ['y'])], [], ['y'], {'two': np.float32(2)}))
    other = typed(body_of([helper.make_node('Neg', ['x'], ['two']), helper.make_node('Exp', ['two'], ['y'])], [], ['y']))
    return helper.make_node('If', [condition], ['result'], name='choice', then_branch=then, else_branch=other)


@pytest.mark.parametrize('taken', [True, False])
def test_if_with_a_constant_condition_is_the_branch(taken, tmp_path):
    compare(model_of([branches('c')], [value('x', [3, 4])], ['result'], {'c': np.array(taken)}), {'x': X}, tmp_path)


@pytest.mark.parametrize('shift', [-5.0, 5.0])
def test_if_with_a_computed_condition_chooses_between_both_results(shift, tmp_path):
    nodes = [helper.make_node('ReduceSum', ['x'], ['sum'], keepdims=0), helper.make_node('Greater', ['sum', 'zero'], ['c']), branches('c')]
    compare(model_of(nodes, [value('x', [3, 4])], ['result'], {'zero': np.float32(0)}), {'x': X + np.float32(shift)}, tmp_path)


def test_a_branch_that_the_shapes_rule_out_is_said_to_be_one(tmp_path):
    """Silero's VAD: one branch for each sampling rate, and a frame of one of them."""
    long = typed(body_of([helper.make_node('MatMul', ['x', 'w'], ['y'])], [], ['y'], {'w': np.ones((4, 2), np.float32)}))
    short = typed(body_of([helper.make_node('MatMul', ['x', 'v'], ['y'], name='product')], [], ['y'], {'v': np.ones((3, 2), np.float32)}))
    nodes = [helper.make_node('Equal', ['rate', 'known'], ['c']), helper.make_node('If', ['c'], ['y'], name='choice', then_branch=long, else_branch=short)]
    model = model_of(nodes, [value('x', [3, 4]), value('rate', [], TensorProto.INT64)], ['y'], {'known': np.array(16000)})
    onnx.save(model, tmp_path / 'm.onnx')
    message = refusal(tmp_path / 'm.onnx', tmp_path)
    assert 'product (MatMul)' in message and "else-branch of choice (If)" in message and '--bind' in message
    np.save(tmp_path / 'rate.npy', np.array(16000))
    pipeline.run('model_deploy', tmp_path / 'm.onnx', '-o', tmp_path / 'program', '--mode', 'f32', '--bind', f'rate={tmp_path}/rate.npy')


def loop(count):
    body = typed(body_of([helper.make_node('Mul', ['before', 'w'], ['after']), helper.make_node('Tanh', ['after'], ['seen']),
                          helper.make_node('Identity', ['go'], ['goes'])],
                         ['i', 'go', 'before'], ['goes', 'after', 'seen'], {'w': np.float32(1.5)}),
                 i=TensorProto.INT64, go=TensorProto.BOOL, goes=TensorProto.BOOL)
    node = helper.make_node('Loop', [count, 'yes', 'x'], ['last', 'all'], name='loop', body=body)
    return model_of([node], [value('x', [3, 4])], ['last', 'all'], {'n': np.array(4), 'much': np.array(5000), 'yes': np.array(True)})


def test_loop_with_a_constant_count_is_unrolled(tmp_path):
    compare(loop('n'), {'x': X}, tmp_path)


def test_a_loop_that_is_too_long_or_of_unknown_length_is_refused_by_name(tmp_path):
    path = tmp_path / 'long.onnx'
    onnx.save(loop('much'), path)
    message = refusal(path, tmp_path)
    assert "'loop' (Loop): has more than 1024 iterations" in message
    model = loop('m')
    model.graph.input.append(value('m', [], TensorProto.INT64))
    onnx.save(model, path)
    message = refusal(path, tmp_path)
    assert 'its trip count' in message and '--bind' in message


def test_attributes_that_contradict_the_model_are_refused_by_name(tmp_path):
    """A hidden size that the weights do not have; a switch that is neither on nor off."""
    weights = {'w': np.ones((1, 20, 4), np.float32), 'r': np.ones((1, 20, 5), np.float32)}
    for op, inputs, constants, shape, attributes, said in (
            ('LSTM', ['x', 'w', 'r'], weights, (3, 1, 4), {'hidden_size': 6}, "'hidden_size' is 6, the weights have 5"),
            ('ArgMax', ['x'], {}, (3, 4), {'keepdims': -1}, "'keepdims' is -1, expected 0 or 1"),
            ('Gemm', ['x', 'g'], {'g': np.ones((4, 4), np.float32)}, (3, 4), {'transB': 2}, "'transB' is 2, expected 0 or 1")):
        node = helper.make_node(op, inputs, ['y'], name='node', **attributes)
        onnx.save(model_of([node], [value('x', shape)], ['y'], constants), tmp_path / 'm.onnx')
        assert f"node ({op}): attribute {said}" in refusal(tmp_path / 'm.onnx', tmp_path)


def test_scan_in_both_directions(tmp_path):
    body = typed(body_of([helper.make_node('Add', ['s', 'e'], ['t']), helper.make_node('Sigmoid', ['t'], ['u'])], ['s', 'e'], ['t', 'u']))
    node = helper.make_node('Scan', ['s0', 'x'], ['last', 'all'], body=body, num_scan_inputs=1, scan_input_axes=[1],
                            scan_input_directions=[1], scan_output_axes=[1], scan_output_directions=[1])
    compare(model_of([node], [value('s0', [3]), value('x', [3, 4])], ['last', 'all']), {'s0': X[:, 0].copy(), 'x': X}, tmp_path)


def test_a_function_of_the_model_is_inlined_with_its_attributes(tmp_path):
    function = helper.make_function(
        'local', 'Leak', ['a', 'b'], ['c'],
        [helper.make_node('LeakyRelu', ['a'], ['t']), helper.make_node('Add', ['t', 'b'], ['c'])], [helper.make_opsetid('', 17)], ['alpha'])
    attribute = function.node[0].attribute.add()
    attribute.name, attribute.ref_attr_name, attribute.type = 'alpha', 'alpha', onnx.AttributeProto.FLOAT
    nodes = [helper.make_node('Leak', ['x', 'x'], ['t'], domain='local', alpha=0.3),
             helper.make_node('Leak', ['t', 'x'], ['y'], domain='local', alpha=0.7)]
    compare(model_of(nodes, [value('x', [3, 4])], ['y'], functions=[function], domains=['local']), {'x': X}, tmp_path)


def test_an_unsupported_node_in_a_body_is_named(tmp_path):
    body = typed(body_of([helper.make_node('Multinomial', ['x'], ['y'], name='inner')], [], ['y']))
    node = helper.make_node('If', ['c'], ['y'], name='outer', then_branch=body, else_branch=body)
    path = tmp_path / 'model.onnx'
    onnx.save(model_of([node], [value('x', [3, 4])], ['y'], {'c': np.array(True)}), path)
    message = refusal(path, tmp_path)
    assert "'outer' (If)" in message and 'inner (Multinomial)' in message


@pytest.mark.parametrize('reduction', ['none', 'add', 'max'])
def test_slices_of_no_elements_are_scattered(reduction, tmp_path):
    """torch.onnx.export writes them for masks of windows that are not shifted (torchvision's Swin transformers)."""
    nodes = [helper.make_node('ScatterND', ['d', 'i', 'u'], ['t'], reduction=reduction), helper.make_node('Concat', ['x', 't'], ['y'], axis=2)]
    constants = {'d': np.zeros((4, 4, 0), np.float32), 'i': np.array([[0], [1], [2], [3]]), 'u': np.zeros((4, 4, 0), np.float32)}
    x = np.random.default_rng(3).normal(size=(4, 4, 3)).astype(np.float32)
    compare(model_of(nodes, [value('x', [4, 4, 3])], ['y'], constants, opset=18), {'x': x}, tmp_path)


@pytest.mark.parametrize('file', ['silero_vad_16k_op15.onnx', 'silero_vad_op18_ifless.onnx'])
def test_silero_vad_carries_its_state_as_onnx_runtime_does(file, shared, tmp_path):
    path, program = shared / 'models' / 'silero_vad' / file, tmp_path / 'program'
    rate = np.array(16000, np.int64)
    np.save(tmp_path / 'sr.npy', rate)
    pipeline.run('model_deploy', path, '--mode', 'f32', '--input-shape', 'input:1x576', '--input-shape', 'state:2x1x128', '--bind',
                 f'sr={tmp_path}/sr.npy', '-o', program)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(path), options)
    generator, state = np.random.default_rng(3), np.zeros((2, 1, 128), np.float32)
    expected_state = state
    for _ in range(6):
        x = generator.normal(0, 0.1, (1, 576)).astype(np.float32)
        expected, expected_state = session.run(None, {'input': x, 'state': expected_state, 'sr': rate})
        np.save(tmp_path / 'x.npy', x)
        np.save(tmp_path / 'state.npy', state)
        pipeline.run('model_runner', program, '--input', f'input={tmp_path}/x.npy', '--input', f'state={tmp_path}/state.npy', '--raw',
                     '--output', tmp_path / 'out.npz', '--threads', 1)
        with np.load(tmp_path / 'out.npz') as outputs:
            np.testing.assert_allclose(outputs['output'], expected, atol=1e-5)
            state = outputs['stateN']
            np.testing.assert_allclose(state, expected_state, atol=1e-4)


def test_qlstm_gives_its_stored_outputs(shared, tmp_path):
    """A quantized LSTM as a Scan of QLinearConv over three steps."""
    folder, program = shared / 'models' / 'qlstm', tmp_path / 'program'
    pipeline.run('model_deploy', folder / 'model.onnx', '--mode', 'f32', '--input-shape', 'input:3x3', '-o', program)
    with np.load(folder / 'io.npz') as stored:
        np.save(tmp_path / 'x.npy', stored['input'])
        expected = stored['output']
    pipeline.run('model_runner', program, '--input', f'input={tmp_path}/x.npy', '--raw', '--output', tmp_path / 'out.npz')
    with np.load(tmp_path / 'out.npz') as outputs:
        np.testing.assert_array_equal(outputs['output'], expected)


def test_the_documentation_names_every_operator():
    imported = set()
    for path in (pipeline.ROOT / 'graph' / 'onnx').glob('*.cc'):
        imported |= set(re.findall(r'\{"((?:com\.microsoft:|ai\.onnx\.ml:)?[A-Z]\w+)",\s*(?:Import|\[)', path.read_text()))
    text = (pipeline.ROOT / 'docs' / 'operators.md').read_text()
    assert len(imported) > 100
    assert not {name for name in imported if not name.startswith('Reduce') and not re.search(rf'\b{name}\b', text)}
