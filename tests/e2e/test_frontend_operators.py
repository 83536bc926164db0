"""Operators that the front end writes as formulas of others: F32 against ONNX Runtime or the onnx package, and a sane result in integers."""

import numpy as np
import onnx
import onnx.reference
import onnxruntime
import pytest

import frontend_cases
import pipeline

CASES = frontend_cases.cases()


def oracle_of(case):
    if not case.reference:
        return expected_of(case.model, case.feeds)
    return dict(zip([o.name for o in case.model.graph.output], onnx.reference.ReferenceEvaluator(case.model).run(None, case.feeds)))


def expected_of(model, feeds):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=['CPUExecutionProvider'])
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, feeds)))


def save(case, folder):
    path = folder / 'model.onnx'
    onnx.save(case.model, path)
    feeds = []
    for name, array in case.feeds.items():
        np.save(folder / f'{name}.npy', array)
        feeds += ['--input', f'{name}={folder / name}.npy']
    return path, feeds


def run(program, feeds, folder):
    out = folder / 'out.npz'
    pipeline.run('model_runner', program, *feeds, '--output', out, '--raw', '--threads', 1)
    with np.load(out) as arrays:
        return dict(arrays)


@pytest.mark.parametrize('case', CASES, ids=lambda c: c.name)
def test_f32_equals_onnx_runtime(case, tmp_path):
    model, feeds = save(case, tmp_path)
    program = tmp_path / 'program'
    pipeline.run('model_deploy', model, '--mode', 'f32', '-o', program)
    outputs = run(program, feeds, tmp_path)
    for name, expected in oracle_of(case).items():
        assert outputs[name].shape == expected.shape, name
        largest = np.abs(expected.astype(np.float64)).max(initial=1e-6)
        error = np.abs(outputs[name].astype(np.float64) - expected).max(initial=0) / largest
        assert error <= 1e-5, f'{name}: {error:.3g} off'


@pytest.mark.parametrize('case', [c for c in CASES if c.integer], ids=lambda c: c.name)
def test_integers_are_sane(case, tmp_path):
    model, feeds = save(case, tmp_path)
    data = tmp_path / 'data'
    data.mkdir()
    generator = np.random.default_rng([frontend_cases.SEED, 2])
    for i in range(16):
        np.savez(data / f'{i:02}.npz', **{n: generator.uniform(-1, 1, a.shape).astype(np.float32) for n, a in case.feeds.items()})
    expected = oracle_of(case)
    for mode in ('symmetric', 'asymmetric'):
        table, program = tmp_path / 'table', tmp_path / f'{mode}.program'
        pipeline.calibrate(model, data, table)
        pipeline.deploy(model, program, mode=mode, table=table)
        outputs = run(program, feeds, tmp_path)
        for name, values in expected.items():
            assert pipeline.cosine(outputs[name].astype(np.float64).ravel(), values.ravel()) > 0.98, (mode, name)


BAD = {
    'decay': (frontend_cases.case('bad', 'LinearAttention', [frontend_cases.numbers(1, 2, 4)] * 3, opset=27, ir=13, q_num_heads=2,
                                  kv_num_heads=2, update_rule='gated'), "update_rule 'gated' needs the input decay"),
    'square': (frontend_cases.case('bad', 'Det', [frontend_cases.numbers(3, 4)]), 'expected square matrices'),
    'places': (frontend_cases.case('bad', 'TensorScatter', [frontend_cases.numbers(1, 4, 2), frontend_cases.numbers(1, 2, 2)],
                                   [frontend_cases.ints(3)], opset=24, ir=10), 'writes from row 3 on, expected 0 to 2'),
    'pooled': (frontend_cases.case('bad', 'MaxRoiPool', [frontend_cases.numbers(1, 1, 4, 4), frontend_cases.numbers(2, 5)],
                                   pooled_shape=[0, 2]), "attribute 'pooled_shape'"),
    'graph': (frontend_cases.case('bad', 'FlexAttention', [frontend_cases.numbers(1, 1, 2, 3)] * 3, opset=26, ir=13,
                                  domain='ai.onnx.preview', score_mod=frontend_cases.body('b', ('ReduceSum', ['x'], ['y']))),
              "the graph 'score_mod'"),
    'roi': (frontend_cases.case('bad', 'Resize', [frontend_cases.numbers(1, 1, 4, 4)], [frontend_cases.ints(1, 1, 2, 2)],
                                order=['x0', '', '', 'c0'], coordinate_transformation_mode='tf_crop_and_resize'), 'needs a roi'),
    'bits': (frontend_cases.case('bad', 'BitCast', [frontend_cases.numbers(3)], opset=26, ir=13, to=onnx.TensorProto.INT64),
             'expected a type of as many bits'),
}


@pytest.mark.parametrize('name', BAD)
def test_bad_forms_are_refused_by_name(name, tmp_path):
    case, words = BAD[name]
    model, _ = save(case, tmp_path)
    done = pipeline.call('model_deploy', model, '--mode', 'f32', '-o', tmp_path / 'program')
    message = done.stderr
    assert done.returncode == 1 and message.count('error:') == 1
    assert words in message, message
    assert not (tmp_path / 'program').exists()


def test_a_place_outside_of_the_cache_ends_the_run(tmp_path):
    case = frontend_cases.caches()[0]
    for first in (6, -1):
        case.feeds['x2'] = frontend_cases.ints(0, first, 2)
        model, feeds = save(case, tmp_path)
        pipeline.run('model_deploy', model, '--mode', 'f32', '-o', tmp_path / 'program')
        message = pipeline.fails('model_runner', tmp_path / 'program', *feeds, '--output', tmp_path / 'none.npz')
        assert 'error:' in message
        assert not (tmp_path / 'none.npz').exists()
