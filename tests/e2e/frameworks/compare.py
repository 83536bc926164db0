"""One operator of one profile: a framework, our programs and the numpy formulas, byte for byte."""

import numpy as np

from frameworks import ours, random_cases
from frameworks.arithmetic import expected


def _describe(case, wrong, theirs, actual):
    first = tuple(np.argwhere(wrong)[0])
    form = f'weights {case.weights.shape} scales {len(case.weight_quant.scale)}' \
        if case.weights is not None else f'inputs {[x.shape for x in case.inputs]}'
    quants = [(q.scale[0], q.zero) for q in (*case.input_quants, case.output_quant)]
    return (f'{int(wrong.sum())} of {wrong.size} differ ({case.op}, {form}, {case.activation}, '
            f'pads {case.pads() if case.op in ("conv", "depthwise", "average_pool") else ""}, '
            f'(scale, zero) of inputs and output {quants}): first at {first}: '
            f'framework {theirs[first]}, here {actual[first]}')


def differences(case, theirs, actual, who):
    """(number of differing bytes, a line about them)."""
    assert theirs.shape == actual.shape and theirs.dtype == actual.dtype, \
        f'{who}: {actual.dtype}{actual.shape}, framework {theirs.dtype}{theirs.shape}'
    wrong = theirs != actual
    count = int(wrong.sum())
    return count, f'{who}: {_describe(case, wrong, theirs, actual)}' if count else ''


def compare(op, kind, profile, framework, folder, instruction_sets):
    """(elements, mismatches, lines): framework(case) against our program and the formulas.

    instruction_sets: values of --isa; all of them must give the bytes of the framework.
    """
    cases = random_cases.cases_of(op, kind, profile)
    program = ours.deploy(cases, profile, folder)
    runs = {isa: ours.run(program, cases, folder, isa) for isa in instruction_sets}
    elements = mismatches = 0
    lines = []
    for i, case in enumerate(cases):
        theirs = framework(case)
        elements += theirs.size
        checks = [differences(case, theirs, runs[isa][i], f'case {i}, model_runner --isa {isa}')
                  for isa in runs]
        mismatches += max(count for count, _ in checks)
        checks.append(differences(case, theirs, expected(case, profile), f'case {i}, formulas'))
        lines += [line for _, line in checks if line]
    return elements, mismatches, lines
