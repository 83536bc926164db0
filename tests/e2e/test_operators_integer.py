"""Every operator alone and in little graphs: f32, also portable, against ONNX Runtime, integer against f32, no F32 command
where an integer form exists, the same bytes for every instruction set and thread count."""

import pathlib
import re

import numpy as np
import onnx
import onnxruntime
import pytest

import operator_cases
import oracle
import pipeline

SAMPLES = 48
FRESH = 1000  # the index of a sample that calibration has not seen
FLAGS = {'scalar': '', 'avx2': 'avx2', 'avx512vnni': 'avx512_vnni'}


def instruction_sets():
    """(instruction set, threads) that this CPU can run."""
    flags = pathlib.Path('/proc/cpuinfo').read_text().split()
    return [(isa, threads) for threads, (isa, flag) in enumerate(FLAGS.items(), 1) if not flag or flag in flags]


def expected_of(model, sample):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, sample)))


def write_dataset(cases, folder):
    folder.mkdir()
    for i in range(SAMPLES):
        np.savez(folder / f'{i:02}.npz', **operator_cases.sample_of(cases, i))
    return folder


def float_commands(program):
    """The commands of a program that read and write f32, as (opcode, name of what they write)."""
    lines = pipeline.run('model_tool', 'disasm', program).splitlines()
    command = re.compile(r' *\d+ +(\w+) +dst=([^ :]+):f32\[.* src=[^ ]*:f32\[')
    return [found.groups() for line in lines if (found := command.match(line))]


def float_faults(outputs, expected):
    return [f'{name}: {np.abs(outputs[name] - b).max():.3g} off in f32' for name, b in expected.items()
            if not np.abs(outputs[name] - b).max() <= 1e-4 * np.abs(b).max()]


def integer_faults(case, outputs, expected):
    faults = []
    for name in case.outputs:
        if not np.abs(expected[name]).max():
            faults += [f'{name}: not zero'] if outputs[name].any() else []
        elif not oracle.sqnr(outputs[name], expected[name]) >= case.sqnr:
            faults.append(f'{name}: {oracle.sqnr(outputs[name], expected[name]):.1f} dB')
    return faults


def command_faults(cases, program):
    """Around an F32 command its operands may be transposed in F32."""
    allowed = {case.prefix: {'copy_into', *case.f32, *(['transpose'] if case.f32 else [])} for case in cases}
    return [f'{name}: {opcode} in f32' for opcode, name in float_commands(program)
            if opcode not in allowed[name.split('/')[0] + '/']]


def check_shapes(outputs, expected):
    assert {n: a.shape for n, a in outputs.items()} == {n: a.shape for n, a in expected.items()}


@pytest.mark.parametrize('cases', operator_cases.bundles(), ids=lambda c: f'opset{c[0].opset}-{c[0].prefix}')
def test_operators(cases, tmp_path):
    model = operator_cases.model_of(cases)
    path, program = tmp_path / 'm.onnx', tmp_path / 'p.rshift'
    onnx.save(model, path)
    sample = operator_cases.sample_of(cases, FRESH)
    expected = expected_of(model, sample)
    table = pipeline.calibrate(path, write_dataset(cases, tmp_path / 'data'), tmp_path / 't.yaml', samples=0,
                               extra=('--method', 'minmax', '--threads', 1))
    pipeline.deploy(path, program, mode='f32')
    outputs = pipeline.infer(program, sample, tmp_path)
    check_shapes(outputs, expected)
    faults = float_faults(outputs, expected)
    portable = pipeline.infer(program, sample, tmp_path, '--portable')
    faults += [f'--portable: {fault}' for fault in float_faults(portable, expected)]
    for isa, threads in instruction_sets():
        other = pipeline.infer(program, sample, tmp_path, '--portable', '--isa', isa, '--threads', threads)
        faults += [f'--portable: {n} differs with {isa}' for n in expected if other[n].tobytes() != portable[n].tobytes()]
    for mode in pipeline.INTEGER_MODES:
        pipeline.deploy(path, program, mode=mode, table=table)
        outputs = pipeline.infer(program, sample, tmp_path)
        check_shapes(outputs, expected)
        found = command_faults(cases, program) + [f for c in cases for f in integer_faults(c, outputs, expected)]
        faults += [f'{mode}: {fault}' for fault in found]
        for isa, threads in instruction_sets():
            other = pipeline.infer(program, sample, tmp_path, '--isa', isa, '--threads', threads)
            faults += [f'{mode}: {n} differs with {isa}' for n in expected if other[n].tobytes() != outputs[n].tobytes()]
    assert not faults, '\n'.join(faults)
