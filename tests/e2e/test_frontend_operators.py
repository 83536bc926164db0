"""Operators that the front end writes as formulas of others: F32 against ONNX Runtime, and a sane result in integers."""

import numpy as np
import onnx
import onnxruntime
import pytest

import frontend_cases
import pipeline

CASES = frontend_cases.cases()


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
    for name, expected in expected_of(case.model, case.feeds).items():
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
    expected = expected_of(case.model, case.feeds)
    for mode in ('symmetric', 'asymmetric'):
        table, program = tmp_path / 'table', tmp_path / f'{mode}.program'
        pipeline.calibrate(model, data, table)
        pipeline.deploy(model, program, mode=mode, table=table)
        outputs = run(program, feeds, tmp_path)
        for name, values in expected.items():
            assert pipeline.cosine(outputs[name].astype(np.float64).ravel(), values.ravel()) > 0.98, (mode, name)
