"""The integers of LiteRT with its default delegate, XNNPACK on x86; what it leaves alone is RUY's."""

import math

import numpy as np

from frameworks import arithmetic_tflite
from frameworks.arithmetic_tflite import inputs_of_table, product_scale
from frameworks.fixed_point import F32, F64, rne
from frameworks.sums import accumulate, by_channel, centred, finish, image_sums, scales


def _done(case, values):
    return finish(case, values, lambda bound, zero: np.rint(bound + F32(zero)))


def linear(case):
    (sx,), sy = scales(case)

    def requantize(acc, sw):
        return rne(acc, F32(F32(sx * sw) / sy))
    return _done(case, by_channel(case, accumulate(case), requantize) + case.output_quant.zero)


def add(case):
    """Two 21-bit multipliers, one shift, one rounding half up."""
    (sa, sb), sy = scales(case)
    ra, rb = F32(sa / sy), F32(sb / sy)
    shift = 20 - (math.frexp(max(float(ra), float(rb)))[1] - 1)
    ma, mb = (int(np.rint(np.ldexp(r, shift))) for r in (ra, rb))
    a, b = centred(case)
    acc = (a * ma + b * (mb if case.op == 'add' else -mb) + (1 << (shift - 1))) >> shift
    return _done(case, acc + case.output_quant.zero)


def mul(case):
    a, b = centred(case)
    return _done(case, rne(a * b, product_scale(case)) + case.output_quant.zero)


def mean(case):
    """float32, the zero points before the rounding, no contraction."""
    (sx,), sy = scales(case)
    total, n = image_sums(case)
    m = F32(F32(sx / sy) * F32(F32(1) / F32(n)))
    bias = F32(F32(case.output_quant.zero) - F32(F32(n * case.input_quants[0].zero) * m))
    return _done(case, np.rint((total.astype(F32) * m).astype(F32) + bias))


def requantize(case):
    """A multiplier of 8 fraction bits, half up."""
    (sx,), sy = scales(case)
    ratio = F32(sx / sy)
    if not 2.0**-8 <= ratio <= 2.0**7:
        return arithmetic_tflite.requantize_ruy(case)
    acc = (centred(case)[0] * int(np.rint(F32(ratio * F32(256)))) + 128) >> 8
    return _done(case, acc + case.output_quant.zero)


def leaky_relu(case):
    """Multipliers of 8 fraction bits, half up; outside their range the delegate does not take it."""
    (sx,), sy = scales(case)
    (v,) = centred(case)
    ratio = F32(sx / sy)
    slope = F32(ratio * F32(case.alpha))
    if not (2.0**-8 <= ratio <= 2.0**7 and 2.0**-8 <= abs(slope) <= 2.0**7):
        return arithmetic_tflite.leaky_relu(case)
    plus, minus = (int(np.rint(F32(r * F32(256)))) for r in (ratio, slope))
    acc = (v * np.where(v >= 0, plus, minus) + 128) >> 8
    return _done(case, acc + case.output_quant.zero)


def logistic(case):
    """The zero point is added before the rounding."""
    x, look_up = inputs_of_table(case)
    y = (1 / (1 + np.exp(-x.astype(F64)))).astype(F32)
    scaled = (y / case.output_quant.scales[0]).astype(F32)
    return _done(case, look_up(np.rint(scaled + F32(case.output_quant.zero))))


XNNPACK = {**arithmetic_tflite.RUY, 'conv': linear, 'depthwise': linear, 'fc': linear, 'add': add,
           'sub': add, 'mul': mul, 'mean': mean, 'leaky_relu': leaky_relu, 'logistic': logistic,
           'requantize': requantize}
