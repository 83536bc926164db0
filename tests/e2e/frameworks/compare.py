"""One operator of one profile: a framework, our programs and the numpy formulas, byte for byte."""

import numpy as np

from frameworks import arithmetic, ours, random_cases


def _describe(case, wrong, goal, actual):
    first = tuple(np.argwhere(wrong)[0])
    form = f'weights {case.weights.shape} scales {len(case.weight_quant.scale)}' \
        if case.weights is not None else f'inputs {[x.shape for x in case.inputs]}'
    quants = [(q.scale[0], q.zero) for q in (*case.input_quants, case.output_quant)]
    return (f'{int(wrong.sum())} of {wrong.size} differ ({case.op}, {form}, {case.activation}, '
            f'pads {case.pads() if case.op in ("conv", "depthwise", "average_pool") else ""}, '
            f'(scale, zero) of inputs and output {quants}): first at {first}: '
            f'expected {goal[first]}, here {actual[first]}')


def differences(case, goal, actual, who):
    """(number of differing bytes, a line about them)."""
    assert goal.shape == actual.shape and goal.dtype == actual.dtype, \
        f'{who}: {actual.dtype}{actual.shape}, not {goal.dtype}{goal.shape}'
    wrong = goal != actual
    count = int(wrong.sum())
    return count, f'{who}: {_describe(case, wrong, goal, actual)}' if count else ''


def compare(op, kind, profile, framework, folder, instruction_sets):
    """(elements, mismatches, faults): framework(case) against our program and the formulas.

    instruction_sets: values of --isa; all of them must give the bytes of the framework, or exactly
    the ones that NUMERICS.md names instead (counted as mismatches, no faults).
    """
    cases = random_cases.cases_of(op, kind, profile)
    program = ours.deploy(cases, profile, folder)
    runs = {isa: ours.run(program, cases, folder, isa) for isa in instruction_sets}
    elements = mismatches = 0
    faults = []
    for i, case in enumerate(cases):
        theirs = framework(case)
        left = arithmetic.ours(case, profile)
        goal = theirs if left is None else left
        elements += theirs.size
        mismatches += max(int((runs[isa][i] != theirs).sum()) for isa in runs)
        faults.append(differences(case, theirs, arithmetic.expected(case, profile),
                                  f'case {i}, formulas'))
        faults += [differences(case, goal, runs[isa][i], f'case {i}, model_runner --isa {isa}')
                   for isa in runs]
    return elements, mismatches, [line for _, line in faults if line]
