"""The integers of profiles caffe2, onednn and ascend, from their definitions alone.

FORMULAS[profile, variant][operator](case) are the bytes of a case.
"""

import dataclasses

import numpy as np

from frameworks.fixed_point import F32, F64, I64, rne, rounding_shift, srdhm
from frameworks.sums import by_channel, centred, finish, image_sums, pool_sums, scales
from frameworks.sums import accumulate as accumulate_window

F16 = np.float16


def away(value):
    """Half away from zero of float32 or float64 values, exactly."""
    whole = np.trunc(value)
    rest = value - whole
    return whole + (rest >= 0.5) - (rest <= -0.5)


ROUND = {'even': np.rint, 'away': away, 'floor': np.floor, 'ceil': np.ceil, 'truncate': np.trunc}


def accumulate(case):
    """Sums with bias; a case may know its own (deconv.py)."""
    own = getattr(case, 'accumulate', None)
    return own() if own else accumulate_window(case)


def _reals(case):
    x, q = case.inputs[0], case.input_quants[0]
    return F32(x.astype(I64) - q.zero) * F32(q.scales[0])


def _bias(case, channels):
    """The real bias in float32, as a DequantizeLinear of the constants gives it."""
    if case.bias is None:
        return np.zeros(channels, F32)
    unit = F32(case.input_quants[0].scales[0]) * case.weight_quant.scales
    return case.bias.astype(F32) * np.broadcast_to(unit, channels)


def _without_bias(case):
    acc = accumulate(case)
    return acc if case.bias is None else acc - case.bias.astype(I64)


def _weight_scales(case, channels):
    return np.broadcast_to(case.weight_quant.scales, channels)


def _average(case, value_of):
    """value_of(sum of q - Z_x, number of taps) for pools and means."""
    zero = case.input_quants[0].zero
    total, count = image_sums(case) if case.op == 'mean' else pool_sums(case)
    return value_of(total - count * zero, np.asarray(count), zero)


def _table(case):
    """Dequantize, LeakyRelu, Quantize in float32, ties to even."""
    x = _reals(case)
    y = np.where(x >= 0, x, F32(case.alpha) * x).astype(F32)
    return finish(case, np.rint(y / F32(case.output_quant.scales[0])) + case.output_quant.zero)


# -- caffe2 ----------------------------------------------------------------------------------------

def _mantissa(scale):
    bits = int(np.array(scale, F32).view(np.uint32))
    return (bits & 0x7FFFFF) | 0x800000, 127 + 23 - (bits >> 23)


def _q31(acc, scale):
    mantissa, shift = _mantissa(scale)  # scale = mantissa / 2^shift
    assert shift >= 24, 'QNNPACK takes scales below 1'
    return rounding_shift(srdhm(acc, mantissa << 7), shift - 24)


def _precise(acc, scale):
    mantissa, shift = _mantissa(scale)
    magnitude = (np.abs(acc).astype(np.uint64) * np.uint64(mantissa) + np.uint64(1 << (shift - 1)))
    magnitude = (magnitude >> np.uint64(shift)).astype(I64)
    return np.where(acc < 0, -magnitude, magnitude)


def _even_bound(bound, zero):
    return np.rint(bound) + zero


def caffe2_linear(requantize):
    def linear(case):
        (sx,), sy = scales(case)
        values = by_channel(case, accumulate(case),
                            lambda acc, sw: requantize(acc, F32(F32(sx * sw) / sy)))
        return finish(case, values + case.output_quant.zero, _even_bound)
    return linear


def caffe2_add(case):
    (sa, sb), sy = scales(case)
    ra, rb = F32(sa / sy), F32(sb / sy)
    exponent = int(np.floor(np.log2(max(ra, rb))))
    if 2.0 ** exponent > max(ra, rb):
        exponent -= 1
    shift = 21 - exponent
    ma, mb = (int(np.rint(F64(r) * 2.0 ** shift)) for r in (ra, rb))
    assert 2**21 <= max(ma, mb) <= 2**22
    a, b = centred(case)
    return finish(case, rounding_shift(a * ma + b * mb, shift) + case.output_quant.zero, _even_bound)


def caffe2_average(case):
    (sx,), sy = scales(case)

    def value(total, count, _):
        factor = F32(sx / sy) / count.astype(F32)
        return away(total.astype(F32) * factor) + case.output_quant.zero
    return finish(case, _average(case, value), _even_bound)


# -- onednn ----------------------------------------------------------------------------------------

def _zero_first(bound, zero):
    return np.rint(F32(bound) + F32(zero))


def onednn_linear(case):
    (sx,), sy = scales(case)
    acc = _without_bias(case)
    unit = F32(sx) * _weight_scales(case, acc.shape[-1])
    bias = (_bias(case, acc.shape[-1]) / unit).astype(F32)
    f = (acc.astype(F32) + bias) * (unit / sy)
    return finish(case, np.rint(f + F32(case.output_quant.zero)), _zero_first)


def onednn_add(case):
    (sa, sb), sy = scales(case)
    a, b = centred(case)
    total = a.astype(F32) * sa + b.astype(F32) * sb
    return finish(case, np.rint(total / sy) + case.output_quant.zero, _zero_first)


def onednn_average(case):
    """Of raw bytes, in the input's type."""
    def value(total, count, zero):
        factor = F32(1) / count.astype(F32)
        return np.rint((total + count * zero).astype(F32) * factor)
    return finish(case, _average(case, value), _zero_first)


# -- ascend ----------------------------------------------------------------------------------------

def _quant(half, case, rounding):
    scale = F32(1.0 / F64(case.output_quant.scales[0]))
    v = half.astype(F32) * scale + F32(case.output_quant.zero)
    return ROUND[rounding](np.clip(v, -1000, 1000))


def _seen(case, rounding):
    """The case with the bytes that the graph input's Quantize makes: floor(q S / S) may be q - 1."""
    q = case.input_quants[0]
    v = _reals(case) / F32(q.scales[0])
    x = np.clip(ROUND[rounding](v) + q.zero, *q.limits)
    return dataclasses.replace(case, inputs=[x.astype(q.dtype)])


def ascend_linear(rounding):
    def linear(case):
        case = _seen(case, rounding)
        (sx,), _ = scales(case)
        acc = _without_bias(case)
        with np.errstate(over='ignore'):
            half = (acc.astype(F32) * (F32(sx) * _weight_scales(case, acc.shape[-1]))).astype(F16)
            half = half + _bias(case, acc.shape[-1]).astype(F16)
        if case.activation:
            half = np.where(half < 0, F16(0), half)
        return finish(case, _quant(half, case, rounding),
                      lambda bound, zero: _quant(np.array(F16(6)), case, rounding))
    return linear


def _caffe2(requantize):
    linear = caffe2_linear(requantize)
    return {'conv': linear, 'depthwise': linear, 'fc': linear, 'add': caffe2_add,
            'average_pool': caffe2_average, 'mean': caffe2_average, 'leaky_relu': _table}


def _ascend(rounding):
    linear = ascend_linear(rounding)
    return {'conv': linear, 'depthwise': linear, 'fc': linear}


FORMULAS = {
    ('caffe2', None): _caffe2(_q31),
    ('caffe2', 'fp32'): _caffe2(rne),
    ('caffe2', 'precise'): _caffe2(_precise),
    ('onednn', None): {'conv': onednn_linear, 'depthwise': onednn_linear, 'fc': onednn_linear,
                       'add': onednn_add, 'average_pool': onednn_average, 'leaky_relu': _table},
    ('ascend', None): _ascend('even'),
    **{('ascend', name): _ascend(name) for name in ('away', 'floor', 'ceil', 'truncate')},
}
