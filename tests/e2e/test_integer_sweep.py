"""Every integer operator on random shapes, attributes and ranges: each integer it gives, in both modes, against ONNX Runtime's float
operator on the dequantized inputs. An operator with one rounding is half a unit off, or what NUMERICS.md proves."""

import json

import numpy as np
import onnx
import onnxruntime
import pytest

import pipeline
import sweep_case
import sweep_cases
from test_operators_integer import float_commands

SEEDS = range(1, 7)
SAMPLES = 10


def ports(program):
    info = json.loads(pipeline.run('model_tool', 'info', program, '--json'))
    return {p['name']: p for key in ('inputs', 'outputs') for p in info[key]}


def bytes_of(batch, port, r, sample):
    """Integers of each input's own range, its ends among them; of cases of several steps those of a sample that calibration saw."""
    made = {}
    for case in batch.cases:
        for name, (shape, low, high) in case.inputs.items():
            scale, zero = port[name]['scale'], port[name]['zero_point']
            least, most = (int(np.clip(np.rint(v / scale) + zero, -128, 127)) for v in (low, high))
            if case.steps:
                made[name] = np.clip(np.rint(sample[name] / scale) + zero, -128, 127).astype(np.int8)
                continue
            made[name] = r.integers(least, most + 1, shape).astype(np.int8)
            made[name].flat[0], made[name].flat[-1] = least, most
    return made


def units_off(case, port, got, exact):
    """The distance of each integer from the exact result, held in the type's range."""
    if case.bits or port['type'] != 's8':
        return (np.asarray(got) != exact).astype(float)
    exact = exact.astype(np.float64) / port['scale'] + port['zero_point']
    return np.abs(got.astype(np.float64) - np.clip(exact, -128, 127))


def inside(batch, port, outputs):
    """The mean share of integers that are no ends of their type, which any number beyond becomes."""
    integers = [outputs[c.output] for c in batch.cases if port[c.output]['type'] == 's8']
    return float(np.mean([np.mean((a > -128) & (a < 127)) for a in integers]))


def faults(batch, port, expected, outputs):
    found = []
    for case in batch.cases:
        got, exact = outputs[case.output], expected[case.output]
        assert got.shape == exact.shape, (case.name, got.shape, exact.shape)
        off = units_off(case, port[case.output], got, exact)
        worst = float(np.nanmax(off, initial=0))
        if not worst <= case.bound:
            at = np.unravel_index(np.nanargmax(off), off.shape)
            found.append(f'{case.name} ({case.prefix}): {worst:.3f} units, expected at most {case.bound:.3f}; {got[at]} at {at} for {exact[at]}')
    return found


@pytest.mark.parametrize('seed', SEEDS)
def test_every_integer_is_within_its_bound(seed, tmp_path):
    print('seed', seed)
    batch, r = sweep_case.batch_of(sweep_cases.KINDS, seed), np.random.default_rng([seed, 99])
    onnx.save(batch.model, tmp_path / 'm.onnx')
    (tmp_path / 'data').mkdir()
    samples = [batch.sample(r) for _ in range(SAMPLES)]
    for i, sample in enumerate(samples):
        np.savez(tmp_path / 'data' / f'{i}.npz', **sample)
    (tmp_path / 'c.yaml').write_text('types:\n  Softmax: {mode: int8}\n  LogSoftmax: {mode: int8}\n', encoding='utf-8')
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(tmp_path / 'm.onnx'), options)
    table = pipeline.calibrate(tmp_path / 'm.onnx', tmp_path / 'data', tmp_path / 't.yaml', samples=0, extra=('--method', 'minmax'))
    types = [a for c in batch.cases if not c.bits for a in ('--output-type', f'{c.output}=s8')]
    found = []
    for mode in pipeline.INTEGER_MODES:
        program = tmp_path / f'{mode}.rshift'
        pipeline.deploy(tmp_path / 'm.onnx', program, mode=mode, table=table,
                        extra=('--config', tmp_path / 'c.yaml', '--input-type', 's8', *types))
        port = ports(program)
        q = bytes_of(batch, port, r, samples[0])
        real = {n: ((a.astype(np.float64) - port[n]['zero_point']) * port[n]['scale']).astype(np.float32) for n, a in q.items()}
        expected = dict(zip([o.name for o in session.get_outputs()], session.run(None, real)))
        outputs = pipeline.infer(program, q, tmp_path, '--raw')
        found += [f'{mode}: {opcode} in f32 of {name}' for opcode, name in float_commands(program)]
        found += [f'{mode}: {fault}' for fault in faults(batch, port, expected, outputs)]
        assert inside(batch, port, outputs) > 0.8
    assert not found, '\n'.join(found)
