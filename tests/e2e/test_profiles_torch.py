"""Profile caffe2 against QNNPACK itself, as PyTorch carries it: equal on every byte.

PyTorch's QNNPACK requantizes convolutions and full connections with the f32 scale (variant fp32);
the q31 form of the original library is no longer in it. Its addition is the original one.
"""

import pytest

import pipeline
from frameworks import compare, ours, qdq_builder, random_cases, torch_qnnpack
from frameworks.arithmetic_others import FORMULAS
from frameworks.table import table  # noqa: F401  pylint: disable=unused-import
from test_profiles_formulas import takes


@pytest.mark.parametrize('kind', ('s8', 'u8'))
@pytest.mark.parametrize('op', ('conv', 'depthwise', 'fc', 'add'))
def test_operator(op, kind, tmp_path, table, report):  # noqa: F811
    if torch_qnnpack.python() is None:
        pytest.skip('no Python with torch and its qnnpack engine (set RSHIFT_TORCH_PYTHON)')
    cases = [torch_qnnpack.adapted(case)
             for seed in range(2) for case in random_cases.cases_of(op, kind, 'caffe2', seed)
             if torch_qnnpack.takes(case) and takes(case, 'caffe2')]
    variant = None if op == 'add' else 'fp32'
    model, program = tmp_path / 'cases.onnx', tmp_path / 'cases.rshift'
    model.write_bytes(qdq_builder.build_all(cases).SerializeToString())
    extra = ['--variant', variant] if variant else []
    pipeline.run('model_deploy', model, '--profile', 'caffe2', *extra, '-o', program)
    actual = ours.run(program, cases, tmp_path, ours.instruction_sets(op)[-1])
    theirs, version = torch_qnnpack.run(cases, tmp_path)
    elements, mismatches, lines = 0, 0, []
    for i, case in enumerate(cases):
        elements += theirs[i].size
        checks = [compare.differences(case, theirs[i], actual[i], f'case {i}, model_runner'),
                  compare.differences(case, theirs[i], FORMULAS['caffe2', variant][op](case),
                                      f'case {i}, formulas')]
        mismatches += checks[0][0]
        lines += [line for _, line in checks if line]
    name = f'caffe2 {variant}' if variant else 'caffe2'
    table(profile=name, operator=op, type=kind, oracle=f'QNNPACK in PyTorch {version}',
          elements=elements, mismatches=mismatches)
    report(f'{name:15} {op:13} {kind}: {elements:>9,} bytes, {mismatches:,} differ (PyTorch {version})')
    assert not lines, '\n'.join(lines[:20])
