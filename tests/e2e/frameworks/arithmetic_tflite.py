"""The integers of LiteRT's kernels: the reference ones (REF) and the optimised ones on x86 (RUY)."""

import math

import numpy as np

from frameworks.fixed_point import (F32, F64, I64, d2, d2_up, exp_negative, quantize_multiplier,
                                    reciprocal_one_plus, rne, round_away, rounding_shift, srdhm)
from frameworks.sums import (accumulate, by_channel, centred, finish, image_sums, pool_sums,
                             products, scales)


def done(case, values):
    """With the zero point already added."""
    return finish(case, values, lambda bound, zero: zero + round_away(bound))


def _linear(case, rounding, float_product):
    """float_product: S_x S_w in float32, then double; else all in double."""
    (sx,), sy = scales(case)

    def requantize(acc, sw):
        product = float(F32(sx * sw)) if float_product else float(sx) * float(sw)
        return rounding(acc, quantize_multiplier(product / float(sy)))
    return done(case, by_channel(case, accumulate(case), requantize) + case.output_quant.zero)


def _per_tensor_u8(case):
    return case.output_quant.type == 'u8'


def linear_ref(case):
    if case.op != 'fc':
        return _linear(case, d2, _per_tensor_u8(case))
    (sx,), sy = scales(case)

    def requantize(acc, sw):
        return round_away(acc.astype(F64) * (float(sx) * float(sw) / float(sy)))
    return done(case, by_channel(case, accumulate(case), requantize) + case.output_quant.zero)


def batch_matmul(case):
    (sa, sb), sy = scales(case)
    m = quantize_multiplier(float(F32(sa * sb)) / float(sy))
    return done(case, d2(products(case), m) + case.output_quant.zero)


def blocks(values, tail, block, axis):
    """`values` in full blocks of an axis, `tail` behind the last one: vector and scalar code."""
    full = values.shape[axis] // block * block
    return np.concatenate([np.split(values, [full], axis)[0], np.split(tail, [full], axis)[1]], axis)


def linear_ruy(case):
    one_scale = case.op == 'fc' and len(case.weight_quant.scale) == 1
    if case.op == 'conv' and case.weights.shape[3] < case.inputs[0].shape[3]:
        return linear_ref(case)  # groups: no optimised kernel
    if case.op != 'depthwise':
        return _linear(case, d2_up, _per_tensor_u8(case) or one_scale)
    if _per_tensor_u8(case):
        return _linear(case, d2, True)
    return blocks(_linear(case, d2_up, False), _linear(case, d2, False), 8, -1)


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
    return done(case, values + case.output_quant.zero)


def add(case):
    """Left shift 20 and three products of two roundings."""
    return _add_by(case, lambda x, m: d2(x << 20, m), 1)


def sub(case):
    (sa, sb), sy = scales(case)
    twice = 2.0 * max(float(sa), float(sb))
    a, b = (d2(x << 20, quantize_multiplier(float(s) / twice))
            for x, s in zip(centred(case), (sa, sb)))
    return done(case, d2(a - b, quantize_multiplier(twice / ((1 << 20) * float(sy))))
                 + case.output_quant.zero)


def add_ruy(case):
    """int8: the right shift is taken from the left one. uint8: it rounds down."""
    if case.output_quant.type == 's8':
        return _add_by(case, lambda x, m: srdhm(x << (20 + m[1]), m[0]), 16)
    return _add_by(case, lambda x, m: srdhm(x << 20, m[0]) >> -m[1], 8)


def product_scale(case):
    (sa, sb), sy = scales(case)
    return F32(F32(sa * sb) / sy)


def mul(case):
    a, b = centred(case)
    return done(case, d2(a * b, quantize_multiplier(float(product_scale(case))))
                 + case.output_quant.zero)


def average_pool(case):
    """Raw bytes, half away from zero; input and output have the same parameters."""
    acc, n = pool_sums(case)
    up = np.where(acc > 0, acc + n // 2, acc - n // 2)
    return done(case, np.where(up >= 0, up // n, -((-up) // n)))


def mean_ref(case):
    """A multiplier divided by the count beforehand."""
    (sx,), sy = scales(case)
    total, n = image_sums(case)
    q, shift = quantize_multiplier(float(sx) / float(sy))
    room = min(n.bit_length() - 1, 32, 31 + shift)
    m = ((q << room) // n, shift - room)
    return done(case, d2(total - n * case.input_quants[0].zero, m) + case.output_quant.zero)


def mean_ruy(case):
    """S_x / (n S_y) in float32; the zero points are one rounded bias."""
    (sx,), sy = scales(case)
    total, n = image_sums(case)
    t = F32(F32(F32(case.input_quants[0].zero) * sx) / sy)
    bias = case.output_quant.zero - int(t + F32(0.5) if t > 0 else t - F32(0.5))
    m = quantize_multiplier(float(F32(sx / F32(F32(n) * sy))))
    return done(case, blocks(d2_up(total, m), d2(total, m), 16, -1) + bias)


def relu(case):
    (sx,), sy = scales(case)
    (v,) = centred(case)
    values = d2(v, quantize_multiplier(float(sx) / float(sy))) + case.output_quant.zero
    return done(case, np.maximum(values, case.output_quant.zero))


def requantize_ref(case):
    (sx,), sy = scales(case)
    (v,) = centred(case)
    return done(case, d2(v, quantize_multiplier(float(sx) / float(sy))) + case.output_quant.zero)


def requantize_ruy(case, block=16):
    (sx,), sy = scales(case)
    m = quantize_multiplier(float(sx) / float(sy))
    v = centred(case)[0].reshape(-1)
    values = blocks(d2_up(v, m), d2(v, m), block, 0).reshape(case.output_shape())
    return done(case, values + case.output_quant.zero)


def quantize(case):
    scaled = (case.inputs[0] / case.output_quant.scales[0]).astype(F32).astype(F64)
    return done(case, round_away(scaled) + case.output_quant.zero)


def quantize_reciprocal(case):
    """By the reciprocal of the scale, ties to even."""
    scaled = (case.inputs[0] * F32(F32(1) / case.output_quant.scales[0])).astype(F32)
    return done(case, np.rint(scaled) + case.output_quant.zero)


def leaky_relu(case):
    (sx,), sy = scales(case)
    (v,) = centred(case)
    plus = quantize_multiplier(float(F32(sx / sy)))
    minus = F32(F32(sx * F32(case.alpha)) / sy)
    below = np.sign(minus).astype(I64) * d2(v, quantize_multiplier(abs(float(minus))))
    return done(case, np.where(v >= 0, d2(v, plus), below) + case.output_quant.zero)


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
    return done(case, look_up(q))


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
    return done(case, rounded + case.output_quant.zero)


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
    return done(case, np.concatenate(parts, case.axis))


REF = {'conv': linear_ref, 'depthwise': linear_ref, 'fc': linear_ref, 'batch_matmul': batch_matmul,
       'add': add, 'mul': mul,
       'average_pool': average_pool, 'mean': mean_ref, 'leaky_relu': leaky_relu,
       'logistic': logistic, 'softmax': softmax_ref, 'concat': concat, 'sub': sub, 'relu': relu,
       'requantize': requantize_ref, 'quantize': quantize}
RUY = {**REF, 'conv': linear_ruy, 'depthwise': linear_ruy, 'fc': linear_ruy, 'add': add_ruy,
       'mean': mean_ruy, 'softmax': softmax, 'requantize': requantize_ruy,
       'quantize': quantize_reciprocal}
