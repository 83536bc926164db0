"""QDQ models, one operator at a time, and everything that is wrong with a QDQ model: the integers against
ONNX Runtime running the same file without graph optimisation."""

import json

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import oracle
import pipeline
import qdq_cases
import test_operators_integer

CASES = [pytest.param(case, kind, id=f'{case.name.replace(" ", "-")}-{kind}')
         for case in qdq_cases.CASES for kind in qdq_cases.TYPES]


def oracle_of(model):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    return lambda sample: dict(zip([o.name for o in session.get_outputs()], session.run(None, sample)))


def deploy(path, program, *extra):
    pipeline.run('model_deploy', path, '-o', program, '--report-json', program.with_suffix('.json'), *extra)
    return json.loads(program.with_suffix('.json').read_text())


@pytest.mark.parametrize('case, kind', CASES)
def test_operator(case, kind, tmp_path, report):
    builder = case.model(kind)
    model, path = builder.model(), tmp_path / 'm.onnx'
    onnx.save(model, path)
    expected_of = oracle_of(model)
    deploy(path, tmp_path / 'f32.rshift', '--mode', 'f32')
    told = deploy(path, tmp_path / 'int.rshift')
    assert bool(told['float_nodes']) == case.f32, told['float_nodes']
    if not case.f32:
        assert pipeline.f32_commands(tmp_path / 'int.rshift') == {}
    total, differ, worst = 0, {'f32': 0, 'int': 0}, {'f32': 0, 'int': 0}
    for index in range(3):
        sample = builder.sample(index)
        expected = expected_of(sample)
        for form in differ:
            actual = pipeline.infer(tmp_path / f'{form}.rshift', sample, tmp_path, '--raw', '--threads', '1')
            assert {n: a.shape for n, a in actual.items()} == {n: a.shape for n, a in expected.items()}
            for name in expected:
                assert actual[name].dtype == expected[name].dtype
                if not name.endswith('_q'):
                    continue
                steps = np.abs(actual[name].astype(int) - expected[name].astype(int))
                differ[form] += int((steps != 0).sum())
                worst[form] = max(worst[form], int(steps.max()))
                total += steps.size if form == 'int' else 0
    integers = [pipeline.infer(tmp_path / 'int.rshift', sample, tmp_path, '--raw', '--isa', isa, '--threads', threads)
                for isa, threads in test_operators_integer.instruction_sets()]
    for other in integers[1:]:
        assert {n: a.tobytes() for n, a in other.items()} == {n: a.tobytes() for n, a in integers[0].items()}
    report(f'qdq {case.name:20} {kind}: {total} bytes, {differ["int"]} differ in integers, {differ["f32"]} in F32')
    assert worst['int'] <= case.units
    assert worst['f32'] <= 1 and differ['f32'] <= total / 1000
    assert len(set(expected[builder.outputs[0]].ravel())) > 8  # the comparison is of something


def test_type_sources_profile_and_mode_are_recorded(tmp_path):
    builder = qdq_cases.CASES[0].model('s8')
    path, program = tmp_path / 'm.onnx', tmp_path / 'p.rshift'
    onnx.save(builder.model(), path)
    told = deploy(path, program, '--report', tmp_path / 'r.html')
    assert told['mode'] == 'asymmetric' and told['profile'] == 'tpu'
    sources = {t['tensor']: t for t in told['type_sources']}
    assert sources['x_q']['source'] == 'QuantizeLinear x_q_node'
    assert (sources['x_q']['type'], sources['x_q']['zero_point']) == ('s8', -7)
    assert np.float32(sources['x_q']['scale']) == np.float32(qdq_cases.SCALE)
    assert sources['w']['source'].startswith('the model\'s constant')
    assert 'QuantizeLinear x_q_node' in (tmp_path / 'r.html').read_text()
    info = pipeline.run('model_tool', 'info', program)
    assert 'tpu' in info and 'asymmetric' in info
    support = json.loads(pipeline.run('model_tool', 'support', path, '--json'))
    fates = {row['node']: row['status'] for row in support['nodes']}
    assert fates['x_q_node'] == fates['c_node'] == 'integer' and fates['w_node'] == 'folded'


def test_tools_say_what_a_qdq_model_does_not_need(tmp_path):
    path, program = tmp_path / 'm.onnx', tmp_path / 'p.rshift'
    onnx.save(qdq_cases.CASES[0].model('s8').model(), path)
    np.save(tmp_path / 'x.npy', np.zeros(qdq_cases.IMAGE, np.float32))
    message = pipeline.fails('model_calibrate', path, '--dataset', tmp_path / 'x.npy', '-o', tmp_path / 't.yaml')
    assert message.endswith('the model holds its own quantization parameters; deploy it directly')
    (tmp_path / 't.yaml').write_text('')
    for extra, word in ((('--calibration', tmp_path / 't.yaml'), 'leave the table out'),
                        (('--mode', 'f32', '--profile', 'onnxruntime'), '--profile'),
                        (('--profile', 'onnxruntime', '--variant', 'd1'), '--variant')):
        done = pipeline.call('model_deploy', path, '-o', program, *extra)
        assert done.returncode == 2 and word in done.stderr and done.stderr.count('\n') == 1, done.stderr
    message = pipeline.fails('model_deploy', path, '-o', program, '--mode', 'symmetric')
    assert "tensor 'x_q' of the model has zero point -7" in message
    pipeline.run('model_deploy', path, '-o', program, '--mode', 'asymmetric')


@pytest.mark.parametrize('mode', pipeline.INTEGER_MODES)
def test_weights_alone_may_be_quantized(mode, tmp_path):
    """DequantizeLinear of constants only: the activations need a table as in any float model."""
    builder = qdq_cases.Builder('weights', 's8')
    w, _ = builder.weights('w', (8, 8, 3, 3), zero=4)
    builder.node('Conv', [builder.input('x', qdq_cases.IMAGE), w], 'c')
    builder.outputs = [builder.node('Relu', ['c'], 'y')]
    model, path = builder.model(), tmp_path / 'm.onnx'
    onnx.save(model, path)
    done = pipeline.call('model_deploy', path, '-o', tmp_path / 'p.rshift')
    assert done.returncode == 2 and '--calibration' in done.stderr
    (tmp_path / 'data').mkdir()
    for index in range(8):
        np.savez(tmp_path / 'data' / f'{index}.npz', **builder.sample(index))
    table = pipeline.calibrate(path, tmp_path / 'data', tmp_path / 't.yaml', samples=0, extra=('--method', 'minmax'))
    pipeline.deploy(path, tmp_path / 'p.rshift', mode=mode, table=table)
    assert pipeline.f32_commands(tmp_path / 'p.rshift') == {}
    sample = builder.sample(0)
    actual = pipeline.infer(tmp_path / 'p.rshift', sample, tmp_path)['y']
    assert oracle.sqnr(actual, oracle_of(model)(sample)['y']) > 35


def test_layers_can_be_compared(tmp_path):
    builder = qdq_cases.CASES[0].model('u8')
    path = tmp_path / 'm.onnx'
    onnx.save(builder.model(), path)
    np.savez(tmp_path / 'x.npz', **builder.sample(0))
    told = deploy(path, tmp_path / 'p.rshift', '--test-input', tmp_path / 'x.npz', '--tolerance', '0.999,0.99')
    assert {'x_q', 'c_q'} <= {layer['tensor'] for layer in told['layers']}
    assert all(layer['cosine'] > 0.999 for layer in told['layers'])


def broken(change, kind='s8', opset=13):
    """A Gemm model after change({name: constant}, nodes)."""
    builder = qdq_cases.Builder('broken', kind, opset)
    qdq_cases.gemm(builder)
    constants = {c.name: c for c in builder.constants}
    change(constants, builder.nodes)
    builder.constants = list(constants.values())
    graph = helper.make_graph(builder.nodes, 'g', builder.inputs,
                              [helper.make_tensor_value_info('y_dq', TensorProto.FLOAT, None)], builder.constants)
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid('', opset)])


def put(name, values):
    return lambda constants, nodes: constants.update({name: numpy_helper.from_array(np.asarray(values), name)})


def set_attribute(node_name, **attributes):
    def change(constants, nodes):
        node = next(n for n in nodes if n.name == node_name)
        others = [a for a in node.attribute if a.name not in attributes]
        del node.attribute[:]
        node.attribute.extend([*others, *(helper.make_attribute(k, v) for k, v in attributes.items())])
    return change


def raw(name, data_type, data):
    def change(constants, nodes):
        constants[name] = helper.make_tensor(name, data_type, [], data, raw=True)
    return change


BROKEN = {
    'scale 0': (put('x_s', np.float32(0)), "scale 'x_s' holds 0"),
    'negative scale': (put('x_s', np.float32(-0.5)), "scale 'x_s' holds -0.5"),
    'scale NaN': (put('x_s', np.float32('nan')), "scale 'x_s' holds"),
    'scale infinite': (put('x_s', np.float32('inf')), "scale 'x_s' holds inf"),
    'scale of rank 2': (put('x_s', np.full((1, 1), 0.5, np.float32)), "scale 'x_s' has the shape 1x1"),
    'empty scale': (put('x_s', np.zeros(0, np.float32)), "scale 'x_s' has the shape 0"),
    'scale of another type': (put('x_s', np.int64(1)), "scale 'x_s' has type s64"),
    'zero point outside its type': (put('x_z', np.int64(300)), 'quantizes to s64; only s8, u8, s16 and u16'),
    'zero points without scales': (put('x_z', np.int8([1, 2])), "zero point 'x_z' has the shape 2, but scale 'x_s' has 1"),
    'zero point of another type': (put('w_z', np.zeros(6, np.uint8)), "zero point 'w_z' has type u8, but the integers"),
    'too few zero points': (put('w_z', np.int8([0])), "zero point 'w_z' has the shape 1, but scale 'w_s' has 6"),
    'scales that do not fit': (lambda c, n: (put('w_s', np.float32([1, 2]))(c, n), put('w_z', np.int8([0, 0]))(c, n)),
                               "scale 'w_s' has 2 elements, but 'w_q' has 6 channels"),
    'axis outside': (set_attribute('w_node', axis=5), 'axis 5 is outside [-2, 2)'),
    'bias with a zero point': (lambda c, n: (put('b_z', np.full(6, 3, np.int32))(c, n),
                                             next(x for x in n if x.name == 'b_node').input.append('b_z')),
                               "zero point 'b_z' holds 3, expected 0"),
    'two scales of one tensor': (
        lambda c, n: (put('x_s2', np.float32(0.25))(c, n),
                      next(x for x in n if x.name == 'x_dq_node').input.__setitem__(1, 'x_s2')),
        "reads 'x_q' with scale 0.25"),
    'blocks': (set_attribute('x_q_node', block_size=4), "scale 'x_s' has type f32 and shape"),
    'int32': (put('x_z', np.int32(0)), 'quantizes to s32; only s8, u8, s16 and u16'),
    'float8': (raw('x_z', TensorProto.FLOAT8E4M3FN, b'\0'), 'element type FLOAT8E4M3FN is not supported'),
}


@pytest.mark.parametrize('name', BROKEN)
@pytest.mark.parametrize('extra', ((), ('--mode', 'f32')), ids=('integer', 'f32'))
def test_broken_model_is_one_line_that_names_the_tensor(name, extra, tmp_path):
    change, expected = BROKEN[name]
    path = tmp_path / 'm.onnx'
    opset = 21 if name in ('blocks', 'int32', 'float8') else 13
    onnx.save(broken(change, opset=opset), path)
    done = pipeline.call('model_deploy', path, '-o', tmp_path / 'p.rshift', *extra)
    assert done.returncode == 1, done.stderr
    assert done.stderr.count('error:') == 1
    assert expected in done.stderr, done.stderr
    assert not (tmp_path / 'p.rshift').exists()


def test_the_unbroken_model_is_good(tmp_path):
    path = tmp_path / 'm.onnx'
    for opset in (13, 21):
        onnx.save(broken(lambda constants, nodes: None, opset=opset), path)
        pipeline.run('model_deploy', path, '-o', tmp_path / 'p.rshift')


def test_bytes_may_enter_and_leave(tmp_path):
    """A model whose input and output are the integers themselves."""
    builder = qdq_cases.Builder('bytes', 'u8')
    scale_zero = builder.parameters('x', 0.02, 120)
    x = builder.node('DequantizeLinear', ['x_q', *scale_zero], 'x_dq')
    w, scales = builder.weights('w', (6, 24))
    y = builder.node('Gemm', [x, w, builder.bias('b', scales * np.float32(0.02))], 'y', transB=1)
    builder.node('QuantizeLinear', [y, *builder.parameters('y', 0.03, 100)], 'y_q')
    graph = helper.make_graph(builder.nodes, 'g', [helper.make_tensor_value_info('x_q', TensorProto.UINT8, [5, 24])],
                              [helper.make_tensor_value_info('y_q', TensorProto.UINT8, [5, 6])], builder.constants)
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid('', 13)])
    onnx.save(model, tmp_path / 'm.onnx')
    sample = {'x_q': np.random.default_rng(1).integers(0, 256, (5, 24)).astype(np.uint8)}
    expected = oracle_of(model)(sample)['y_q']
    for extra in ((), ('--mode', 'f32')):
        pipeline.run('model_deploy', tmp_path / 'm.onnx', '-o', tmp_path / 'p.rshift', *extra)
        actual = pipeline.infer(tmp_path / 'p.rshift', sample, tmp_path, '--raw')['y_q']
        assert actual.dtype == np.uint8
        assert np.abs(actual.astype(int) - expected.astype(int)).max() <= 1


def test_sixteen_bits_are_computed_in_f32_and_named(tmp_path):
    """16-bit activations and weights beside 8-bit ones: the layers that have them run in F32, the others do not."""
    builder = qdq_cases.Builder('wide', 's8', opset=21)
    w, _ = builder.weights('w', (8, 8, 3, 3))
    y = builder.node('Conv', [builder.trip(builder.input('x', qdq_cases.IMAGE), 0.0171), w], 'c')
    scale_zero = builder.parameters('c', 0.0004, 321, np.uint16)
    builder.node('QuantizeLinear', [y, *scale_zero], 'c_q')
    y = builder.node('DequantizeLinear', ['c_q', *scale_zero], 'c_dq')
    v, _ = builder.weights('v', (4, 8, 1, 1), dtype=np.int16)
    builder.quantized(builder.node('Conv', [builder.node('Sigmoid', [y], 's'), v], 'd'), 2.0)
    model, path = builder.model(), tmp_path / 'm.onnx'
    model.ir_version = 10
    onnx.save(model, path)
    told = deploy(path, tmp_path / 'p.rshift')
    assert pipeline.f32_commands(tmp_path / 'p.rshift')['conv_f32'] == 1
    assert {n['node'] for n in told['float_nodes']} >= {'s_node', 'd_node'}
    sample = builder.sample(0)
    expected = oracle_of(model)(sample)
    actual = pipeline.infer(tmp_path / 'p.rshift', sample, tmp_path, '--raw')
    assert np.abs(actual['d_q'].astype(int) - expected['d_q'].astype(int)).max() <= 1
    assert len(set(expected['d_q'].ravel())) > 8
