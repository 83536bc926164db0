"""Profiles tflite-ref, tflite-ruy and tflite-xnnpack against LiteRT in its three ways.

Random quantized operators (frameworks/random_cases.py, seeded by operator, type and profile)
through LiteRT, through model_deploy and model_runner, and through the formulas of
frameworks/arithmetic_tflite.py: every byte equal, on every instruction set of this CPU.
"""

import pytest

pytest.importorskip('ai_edge_litert', reason='ai-edge-litert is not installed: LiteRT is not compared')

from frameworks import compare, litert, ours, random_cases  # noqa: E402
from frameworks.table import table  # noqa: E402, F401  pylint: disable=unused-import


KINDS = [(op, kind) for op in random_cases.OPERATORS['tflite'] for kind in ('s8', 'u8')
         if (op, kind) not in random_cases.REFUSED]


@pytest.mark.parametrize('profile', litert.WAYS)
@pytest.mark.parametrize('op, kind', KINDS)
def test_operator(op, kind, profile, tmp_path, table, report):  # noqa: F811
    elements, mismatches, faults = compare.compare(
        op, kind, profile, lambda case: litert.run(case, profile)[0], tmp_path,
        ours.instruction_sets(op))
    table(profile=profile, operator=op, type=kind, oracle='LiteRT 2.3.0', elements=elements,
          mismatches=mismatches)
    report(f'{profile:15} {op:13} {kind}: {elements:>9,} bytes, {mismatches:,} differ')
    assert not faults, '\n'.join(faults)
