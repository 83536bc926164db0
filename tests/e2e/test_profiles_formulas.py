"""Profiles tpu, tflite, caffe2, onednn and ascend against numpy formulas: equal on every byte.

No library here runs these integers as they are defined (QNNPACK in PyTorch: test_profiles_torch.py;
oneDNN itself: tests/numerics/onednn_test.cc), so the witnesses are frameworks/arithmetic_others.py and, for tpu and tflite, arithmetic_seed.py.
"""

import numpy as np
import pytest

import pipeline
from frameworks import arithmetic_others, arithmetic_seed, compare, ours, qdq_builder, random_cases
from frameworks.table import table  # noqa: F401  pylint: disable=unused-import

FORMULAS = {**arithmetic_seed.FORMULAS, **arithmetic_others.FORMULAS}
OPERATORS = [(profile, variant, op) for (profile, variant), formulas in FORMULAS.items()
             for op in formulas if variant is None or op in ('conv', 'fc')]
LARGEST_HALF = 65504.0


def takes(case, profile):
    """Scales and biases that the profile's framework has."""
    if case.weights is None:
        return True
    product = case.input_quants[0].scales[0] * case.weight_quant.scales
    if profile == 'caffe2':
        return (product / case.output_quant.scales[0] < 1).all()
    if profile == 'ascend' and case.bias is not None:
        return (np.abs(case.bias * product) < LARGEST_HALF).all()
    return True


@pytest.mark.parametrize('kind', ('s8', 'u8'))
@pytest.mark.parametrize('profile, variant, op', OPERATORS)
def test_operator(profile, variant, op, kind, tmp_path, table, report):  # noqa: F811
    cases = [case for case in random_cases.cases_of(op, kind, profile) if takes(case, profile)]
    assert cases
    model, program = tmp_path / 'cases.onnx', tmp_path / 'cases.rshift'
    model.write_bytes(qdq_builder.build_all(cases).SerializeToString())
    extra = ['--variant', variant] if variant else []
    pipeline.run('model_deploy', model, '--profile', profile, *extra, '-o', program)
    runs = {isa: ours.run(program, cases, tmp_path, isa) for isa in ours.instruction_sets(op)}
    elements, mismatches, lines = 0, 0, []
    for i, case in enumerate(cases):
        wanted = FORMULAS[profile, variant][op](case)
        elements += wanted.size
        checks = [compare.differences(case, wanted, runs[isa][i], f'case {i}, --isa {isa}')
                  for isa in runs]
        mismatches += max(count for count, _ in checks)
        lines += [line for _, line in checks if line]
    name = f'{profile} {variant}' if variant else profile
    table(profile=name, operator=op, type=kind, oracle='numpy formulas', elements=elements,
          mismatches=mismatches)
    report(f'{name:15} {op:13} {kind}: {elements:>9,} bytes, {mismatches:,} differ')
    assert not lines, '\n'.join(lines)


@pytest.mark.parametrize('arguments, word', [
    (('--profile', 'onednn', '--variant', 'd1'), 'none'), (('--variant', 'fp32'), 'profile tpu'),
    (('--profile', 'caffe2', '--variant', 'floor'), 'fp32 or precise'),
    (('--profile', 'ascend', '--variant', 'nearest'), 'unknown variant')])
def test_variants_belong_to_their_profile(arguments, word, tmp_path):
    done = pipeline.call('model_deploy', 'absent.onnx', '-o', tmp_path / 'x.rshift', *arguments)
    assert done.returncode == 2 and word in done.stderr and done.stderr.count('\n') == 1, done.stderr
