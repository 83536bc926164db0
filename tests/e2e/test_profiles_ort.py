"""Profile onnxruntime against ONNX Runtime's QLinear kernels, through QDQ models.

As test_profiles_litert.py. ONNX Runtime is used as it comes: default optimisation level.
"""

import pytest

from frameworks import compare, ort, ours, qdq_builder, random_cases
from frameworks.table import table  # noqa: F401  pylint: disable=unused-import

KERNELS = {'conv': 'QLinearConv', 'depthwise': 'QLinearConv', 'fc': 'QGemm', 'matmul': 'QLinearMatMul', 'batch_matmul': 'QLinearMatMul', 'add': 'QLinearAdd',
           'mul': 'QLinearMul', 'sub': 'Sub', 'div': 'Div', 'maximum': 'Max', 'minimum': 'Min', 'mod': 'Mod', 'prelu': 'PRelu', 'average_pool': 'QLinearAveragePool',
           'mean': 'QLinearGlobalAveragePool', 'leaky_relu': 'QLinearLeakyRelu',
           'logistic': 'QLinearSigmoid', 'softmax': 'QLinearSoftmax', 'concat': 'QLinearConcat',
           'quantize': 'QuantizeLinear'}


@pytest.mark.parametrize('kind', ('s8', 'u8'))
@pytest.mark.parametrize('op', random_cases.OPERATORS['onnxruntime'])
def test_operator(op, kind, tmp_path, table, report):  # noqa: F811
    elements, mismatches, faults = compare.compare(op, kind, 'onnxruntime', ort.run, tmp_path,
                                                  ours.instruction_sets(op))
    table(profile='onnxruntime', operator=op, type=kind, oracle=ort.NAME, elements=elements,
          mismatches=mismatches)
    report(f'onnxruntime     {op:13} {kind}: {elements:>9,} bytes, {mismatches:,} differ')
    assert not faults, '\n'.join(faults)


@pytest.mark.parametrize('kind', ('s8', 'u8'))
@pytest.mark.parametrize('op', random_cases.OPERATORS['onnxruntime'])
def test_integer_kernel_runs(op, kind):
    """The comparison means something only if ONNX Runtime fused the operator into its kernel."""
    for case in random_cases.cases_of(op, kind, 'onnxruntime'):
        operators = ort.optimized_operators(qdq_builder.build(case))
        assert operators.get(KERNELS[op]) == 1, operators
