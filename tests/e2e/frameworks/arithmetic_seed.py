"""The two profiles that come from documents: tpu and tflite, the table of an older TFLite.

Written from quantize/NUMERICS.md, sections 1 to 9 and 13.1.
"""

import numpy as np

from frameworks.fixed_point import F32, F64, I64, d2, quantize_multiplier, round_away
from frameworks.sums import accumulate, by_channel, centred, finish, pool_sums, scales


def half_up(acc, m):
    """One rounding of a 64-bit product: D1, and tpu's only requantization."""
    q, shift = m
    return (acc * I64(q) + (I64(1) << (30 - shift))) >> (31 - shift)


def _linear(case, requantize, upper):
    (sx,), sy = scales(case)
    values = by_channel(case, accumulate(case), lambda acc, sw: requantize(acc, sx, sw, sy))
    return finish(case, values + case.output_quant.zero, upper)


def _exact(sx, sw, sy):
    return quantize_multiplier(float(sx) * float(sw) / float(sy))


def d1(acc, sx, sw, sy):
    return half_up(acc, _exact(sx, sw, sy))


def two_steps(acc, sx, sw, sy):
    return d2(acc, _exact(sx, sw, sy))


def f2(acc, sx, sw, sy):
    return d2(acc, quantize_multiplier(float(F32(F32(sx * sw) / sy))))


def tflite_linear(requantize):
    return lambda case: _linear(case, requantize, lambda bound, zero: zero + round_away(bound))


def tflite_by_table(case):
    """The table of QUANTIZED_OP.md; FullyConnected is D2."""
    per_channel = len(case.weight_quant.scales) > 1
    if case.op == 'fc':
        chosen = two_steps
    elif case.op == 'depthwise':
        chosen = two_steps if per_channel else f2
    elif per_channel:
        chosen = d1
    else:
        pointwise = case.window() == (1, 1) and case.weights.shape[3] == case.inputs[0].shape[3]
        chosen = f2 if pointwise else two_steps
    return tflite_linear(chosen)(case)


def _even(bound, zero):
    return np.rint(bound) + zero


def tpu_linear(case):
    return _linear(case, d1, _even)


def tpu_mul(case):
    (sa, sb), sy = scales(case)
    a, b = centred(case)
    return finish(case, half_up(a * b, _exact(sa, sb, sy)) + case.output_quant.zero, _even)


def tpu_average(case):
    """In binary32: scale / n * sum + offset, n the taps inside the image."""
    (sx,), sy = scales(case)
    ratio = float(sx) / float(sy)
    offset = F32(case.output_quant.zero - ratio * case.input_quants[0].zero)
    total, taps = pool_sums(case)
    values = F32(ratio) / taps.astype(F32) * total.astype(F32) + offset
    return finish(case, np.rint(values.astype(F64)), _even)


def _linears(linear):
    return {'conv': linear, 'depthwise': linear, 'fc': linear}


FORMULAS = {
    ('tpu', None): {**_linears(tpu_linear), 'mul': tpu_mul, 'average_pool': tpu_average},
    ('tflite', None): _linears(tflite_by_table),
    ('tflite', 'd1'): _linears(tflite_linear(d1)),
    ('tflite', 'd2'): _linears(tflite_linear(two_steps)),
    ('tflite', 'f2'): _linears(tflite_linear(f2)),
}
