"""The integers of LiteRT's three ways: reference kernels, optimised kernels, the XNNPACK delegate."""

import math

import numpy as np

from frameworks.fixed_point import (F32, F64, I64, d2, d2_up, exp_negative, quantize_multiplier,
                                    reciprocal_one_plus, rne, round_away, rounding_shift, srdhm)
from frameworks.sums import (accumulate, by_channel, centred, finish, image_sums, pool_sums,
                             scales)


def _done(case, values):
    """With the zero point already added."""
    return finish(case, values, lambda bound, zero: zero + round_away(bound))


def _done_xnnpack(case, values):
    return finish(case, values, lambda bound, zero: np.rint(bound + F32(zero)))


def _linear(case, rounding, float_product):
    """float_product: S_x S_w in float32, then double; else all in double."""
    (sx,), sy = scales(case)

    def requantize(acc, sw):
        product = float(F32(sx * sw)) if float_product else float(sx) * float(sw)
        return rounding(acc, quantize_multiplier(product / float(sy)))
    return _done(case, by_channel(case, accumulate(case), requantize) + case.output_quant.zero)


def _per_tensor_u8(case):
    return case.output_quant.type == 'u8'


def linear_ref(case):
    if case.op != 'fc':
        return _linear(case, d2, _per_tensor_u8(case))
    (sx,), sy = scales(case)

    def requantize(acc, sw):
        return round_away(acc.astype(F64) * (float(sx) * float(sw) / float(sy)))
    return _done(case, by_channel(case, accumulate(case), requantize) + case.output_quant.zero)


def blocks(values, tail, block, axis):
    """`values` in full blocks of an axis, `tail` behind the last one: vector and scalar code."""
    full = values.shape[axis] // block * block
    return np.concatenate([np.split(values, [full], axis)[0], np.split(tail, [full], axis)[1]], axis)


def linear_ruy(case):
    one_scale = case.op == 'fc' and len(case.weight_quant.scale) == 1
    if case.op != 'depthwise':
        return _linear(case, d2_up, _per_tensor_u8(case) or one_scale)
    if _per_tensor_u8(case):
        return _linear(case, d2, True)
    return blocks(_linear(case, d2_up, False), _linear(case, d2, False), 8, -1)


def linear_xnnpack(case):
    (sx,), sy = scales(case)

    def requantize(acc, sw):
        return rne(acc, F32(F32(sx * sw) / sy))
    return _done_xnnpack(case, by_channel(case, accumulate(case), requantize)
                         + case.output_quant.zero)


def _add_by(case, operand, block):
    """operand(x - Z, multiplier): the scaled operand in full blocks; behind them as reference."""
    (sa, sb), sy = scales(case)
    twice = 2.0 * max(float(sa), float(sb))
    ma, mb = quantize_multiplier(float(sa) / twice), quantize_multiplier(float(sb) / twice)
    my = quantize_multiplier(twice / ((1 << 20) * float(sy)))
    a, b = (x.reshape(-1) for x in centred(case))
    scalar = d2(a << 20, ma) + d2(b << 20, mb)
    total = blocks(operand(a, ma) + operand(b, mb), scalar, block, 0)
    values = d2(total, my).reshape(case.output_shape())
    return _done(case, values + case.output_quant.zero)


def add(case):
    """Left shift 20 and three products of two roundings."""
    return _add_by(case, lambda x, m: d2(x << 20, m), 1)


def add_ruy(case):
    """int8: the right shift is taken from the left one. uint8: it rounds down."""
    if case.output_quant.type == 's8':
        return _add_by(case, lambda x, m: srdhm(x << (20 + m[1]), m[0]), 16)
    return _add_by(case, lambda x, m: srdhm(x << 20, m[0]) >> -m[1], 8)


def add_xnnpack(case):
    """Two 21-bit multipliers, one shift, one rounding half up."""
    (sa, sb), sy = scales(case)
    ra, rb = F32(sa / sy), F32(sb / sy)
    shift = 20 - (math.frexp(max(float(ra), float(rb)))[1] - 1)
    ma, mb = (int(np.rint(np.ldexp(r, shift))) for r in (ra, rb))
    a, b = centred(case)
    acc = (a * ma + b * mb + (1 << (shift - 1))) >> shift
    return _done_xnnpack(case, acc + case.output_quant.zero)


def _product_scale(case):
    (sa, sb), sy = scales(case)
    return F32(F32(sa * sb) / sy)


def mul(case):
    a, b = centred(case)
    return _done(case, d2(a * b, quantize_multiplier(float(_product_scale(case))))
                 + case.output_quant.zero)


def mul_xnnpack(case):
    a, b = centred(case)
    return _done_xnnpack(case, rne(a * b, _product_scale(case)) + case.output_quant.zero)


def average_pool(case):
    """Raw bytes, half away from zero; input and output have the same parameters."""
    acc, n = pool_sums(case)
    up = np.where(acc > 0, acc + n // 2, acc - n // 2)
    return _done(case, np.where(up >= 0, up // n, -((-up) // n)))


def mean_ref(case):
    """A multiplier divided by the count beforehand."""
    (sx,), sy = scales(case)
    total, n = image_sums(case)
    q, shift = quantize_multiplier(float(sx) / float(sy))
    room = min(n.bit_length() - 1, 32, 31 + shift)
    m = ((q << room) // n, shift - room)
    return _done(case, d2(total - n * case.input_quants[0].zero, m) + case.output_quant.zero)


def mean_ruy(case):
    """S_x / (n S_y) in float32; the zero points are one rounded bias."""
    (sx,), sy = scales(case)
    total, n = image_sums(case)
    t = F32(F32(F32(case.input_quants[0].zero) * sx) / sy)
    bias = case.output_quant.zero - int(t + F32(0.5) if t > 0 else t - F32(0.5))
    m = quantize_multiplier(float(F32(sx / F32(F32(n) * sy))))
    return _done(case, blocks(d2_up(total, m), d2(total, m), 16, -1) + bias)


def mean_xnnpack(case):
    """float32, the zero points before the rounding, no contraction."""
    (sx,), sy = scales(case)
    total, n = image_sums(case)
    m = F32(F32(sx / sy) * F32(F32(1) / F32(n)))
    bias = F32(F32(case.output_quant.zero) - F32(F32(n * case.input_quants[0].zero) * m))
    return _done_xnnpack(case, np.rint((total.astype(F32) * m).astype(F32) + bias))


def leaky_relu(case):
    (sx,), sy = scales(case)
    (v,) = centred(case)
    plus = quantize_multiplier(float(F32(sx / sy)))
    minus = F32(F32(sx * F32(case.alpha)) / sy)
    below = np.sign(minus).astype(I64) * d2(v, quantize_multiplier(abs(float(minus))))
    return _done(case, np.where(v >= 0, d2(v, plus), below) + case.output_quant.zero)


def leaky_relu_xnnpack(case):
    """Multipliers of 8 fraction bits, half up; outside their range the delegate does not take it."""
    (sx,), sy = scales(case)
    (v,) = centred(case)
    ratio = F32(sx / sy)
    slope = F32(ratio * F32(case.alpha))
    if not (2.0**-8 <= ratio <= 2.0**7 and 2.0**-8 <= abs(slope) <= 2.0**7):
        return leaky_relu(case)
    plus, minus = (int(np.rint(F32(r * F32(256)))) for r in (ratio, slope))
    acc = (v * np.where(v >= 0, plus, minus) + 128) >> 8
    return _done_xnnpack(case, acc + case.output_quant.zero)


def inputs_of_table(case):
    """The 256 real inputs, and a function from a table of outputs to the bytes of the case."""
    q = case.input_quants[0]
    lo, hi = q.limits
    reals = ((np.arange(lo, hi + 1) - q.zero).astype(F32) * q.scales[0]).astype(F32)
    return reals, lambda table: table[case.inputs[0].astype(I64) - lo]


def exp32(x):
    """expf, correctly rounded."""
    return np.exp(x.astype(F64)).astype(F32)


def logistic(case):
    x, look_up = inputs_of_table(case)
    y = (F32(1) / (F32(1) + exp32(-x))).astype(F32)
    q = round_away((y / case.output_quant.scales[0]).astype(F32)) + case.output_quant.zero
    return _done(case, look_up(q))


def logistic_xnnpack(case):
    """The zero point is added before the rounding."""
    x, look_up = inputs_of_table(case)
    y = (1 / (1 + np.exp(-x.astype(F64)))).astype(F32)
    scaled = (y / case.output_quant.scales[0]).astype(F32)
    return _done(case, look_up(np.rint(scaled + F32(case.output_quant.zero))))


def softmax_ref(case):
    """Fixed point: exp with 5 integer bits, a sum with 12, Newton's reciprocal."""
    (sx,), _ = scales(case)
    lo, hi = case.output_quant.limits
    q, shift = quantize_multiplier(min(float(sx) * (1 << 26), 2.0**31 - 1))
    least = -math.floor(31 * (1 << 26) / (1 << shift))
    x = case.inputs[0].astype(I64)
    diff = x - x.max(-1, keepdims=True)
    near = diff >= least
    e = exp_negative(srdhm(np.where(near, diff, 0) << shift, q), 5)
    total = np.where(near, rounding_shift(e, 12), 0).sum(-1, keepdims=True)
    headroom = 31 - np.floor(np.log2(total.astype(F64))).astype(I64)  # below 2^31: exact enough
    inverse = reciprocal_one_plus((total << headroom) - (1 << 31))
    y = rounding_shift(srdhm(inverse, e), 12 - headroom + 31 - 8) + lo
    return np.where(near, np.clip(y, lo, hi), lo).astype(case.output_quant.dtype)


def softmax(case):
    """A float table of exp, a float sum in order, one reciprocal."""
    (sx,), sy = scales(case)
    x = case.inputs[0].astype(I64)
    table = exp32((-sx * np.arange(256, dtype=F32)).astype(F32))
    e = table[x.max(-1, keepdims=True) - x]
    total = np.zeros(e.shape[:-1], F32)
    for k in range(e.shape[-1]):
        total = total + e[..., k]
    v = e * (F32(1) / (total * sy))[..., None]
    signed = case.output_quant.type == 's8'
    rounded = round_away(v.astype(F64)) if signed else np.floor(v + F32(0.5))
    return _done(case, rounded + case.output_quant.zero)


def concat(case):
    """uint8 with scales of their own; equal parameters copy."""
    parts = []
    out = case.output_quant
    for x, q in zip(case.inputs, case.input_quants):
        if q == out:
            parts.append(x.astype(I64))
            continue
        m = F32(q.scales[0] * F32(F32(1) / out.scales[0]))
        moved = (x.astype(F32) * m).astype(F32) + F32(F32(-q.zero) * m)
        parts.append(round_away(moved.astype(F64)) + out.zero)
    return _done(case, np.concatenate(parts, case.axis))


REF = {'conv': linear_ref, 'depthwise': linear_ref, 'fc': linear_ref, 'add': add, 'mul': mul,
       'average_pool': average_pool, 'mean': mean_ref, 'leaky_relu': leaky_relu,
       'logistic': logistic, 'softmax': softmax_ref, 'concat': concat}
RUY = {**REF, 'conv': linear_ruy, 'depthwise': linear_ruy, 'fc': linear_ruy, 'add': add_ruy,
       'mean': mean_ruy, 'softmax': softmax}
XNNPACK = {**RUY, 'conv': linear_xnnpack, 'depthwise': linear_xnnpack, 'fc': linear_xnnpack,
           'add': add_xnnpack, 'mul': mul_xnnpack, 'mean': mean_xnnpack,
           'leaky_relu': leaky_relu_xnnpack, 'logistic': logistic_xnnpack}
