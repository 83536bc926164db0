"""The integers of ONNX Runtime's QLinear kernels on x86-64 with FMA.

int8 activations become uint8 there (zero points + 128) before anything is fused; that shows where
a zero point takes part in float arithmetic.
"""

import dataclasses
import math

import numpy as np

from frameworks.arithmetic_tflite import inputs_of_table
from frameworks.fixed_point import F32, F64, I64, fma, rne
from frameworks.sums import (accumulate, by_channel, centred, finish, image_sums, pool_sums,
                             products, scales, windows)


def as_unsigned(case):
    """The case that really runs."""
    if case.output_quant.type == 'u8':
        return case

    def moved(q):
        return dataclasses.replace(q, type='u8', zero=q.zero + 128)
    return dataclasses.replace(
        case, inputs=[(x.astype(I64) + 128).astype(np.uint8) for x in case.inputs],
        input_quants=[moved(q) for q in case.input_quants], output_quant=moved(case.output_quant))


def on_unsigned(formula):
    """A formula on uint8 for cases of either type."""
    def wrapped(case):
        shift = 128 if case.output_quant.type == 's8' else 0
        return (formula(as_unsigned(case)).astype(I64) - shift).astype(case.output_quant.dtype)
    return wrapped


def linear(case):
    (sx,), sy = scales(case)

    def requantize(acc, sw):
        return rne(acc, F32(F32(sx * sw) / sy))
    values = by_channel(case, accumulate(case), requantize) + case.output_quant.zero
    return finish(case, values, lambda bound, zero: case.output_quant.limits[1])


def batch_matmul(case):
    (sa, sb), sy = scales(case)
    return finish(case, rne(products(case), F32(F32(sa * sb) / sy)) + case.output_quant.zero)


@on_unsigned
def add(case):
    (sa, sb), sy = scales(case)
    ra, rb = F32(sa / sy), F32(sb / sy)
    za, zb = (F32(q.zero) for q in case.input_quants)
    fixed = F32(F32(case.output_quant.zero) - fma(ra, za, F32(rb * zb)))
    a, b = case.inputs
    return finish(case, np.rint(fma(a, ra, fma(b, rb, fixed))))


@on_unsigned
def mul(case):
    (sa, sb), sy = scales(case)
    a, b = centred(case)
    v = ((a * b).astype(F32) * F32(F32(sa * sb) / sy)).astype(F32)
    return finish(case, np.rint(v + F32(case.output_quant.zero)))


@on_unsigned
def average_pool(case):
    """Real taps summed in the order of the window, divided by their number, then by S_y."""
    (sx,), sy = scales(case)
    zero = case.input_quants[0].zero
    taps = ((windows(case, zero) - zero).astype(F32) * sx).astype(F32)
    total = np.zeros_like(taps[:, :, :, 0])
    for k in range(taps.shape[3]):
        total = total + taps[:, :, :, k]
    mean = total / pool_sums(case)[1].astype(F32)
    return finish(case, np.rint((mean / sy).astype(F32) + F32(case.output_quant.zero)))


def global_average_pool(case):
    (sx,), sy = scales(case)
    total, n = image_sums(case)
    acc = total - n * case.input_quants[0].zero
    return finish(case, rne(acc, F32(sx / F32(sy * F32(n)))) + case.output_quant.zero)


def _table(case, y):
    return np.rint((y / case.output_quant.scales[0]).astype(F32)) + case.output_quant.zero


def leaky_relu(case):
    x, look_up = inputs_of_table(case)
    y = np.where(x >= 0, x, (F32(case.alpha) * x).astype(F32))
    return finish(case, look_up(_table(case, y)))


# The rational function of tanh(x / 2) / 2 in MLAS: odd numerator and even denominator.
_NUMERATOR = (4.37031012579801e-11, 1.15627324459942e-07, 6.08574864600143e-05,
              8.51377133304701e-03, 2.48287947061529e-01)
_DENOMINATOR = (6.10247389755681e-13, 5.76102136993427e-09, 6.29106785017040e-06,
                1.70198817374094e-03, 1.16817656904453e-01, 9.93151921023180e-01)


def _horner(square, coefficients):
    value = np.full_like(square, F32(coefficients[0]))
    for c in coefficients[1:]:
        value = (value.astype(F64) * square + F64(F32(c))).astype(F32)
    return value


def logistic(case):
    x, look_up = inputs_of_table(case)
    x = np.clip(x, F32(-18), F32(18))
    square = x * x
    y = (_horner(square, _NUMERATOR) * x) / _horner(square, _DENOMINATOR) + F32(0.5)
    return finish(case, look_up(_table(case, np.clip(y, F32(0), F32(1)))))


@on_unsigned
def softmax(case):
    """A table of exp lifted towards the top of float32, a float sum, floor(1 / S_y)."""
    (sx,), sy = scales(case)
    x = case.inputs[0].astype(I64)
    n = x.shape[-1]
    room = F32(math.log(float(F32(np.finfo(F32).max) / F32(n))))  # logf
    lift = max(0.0, float(room) - 5) / float(sx)
    table = np.exp((np.arange(256) - 255 + lift) * float(sx)).astype(F32)
    e = table[255 + x - x.max(-1, keepdims=True)]
    total = np.zeros(e.shape[:-1], F32)
    for k in range(n):
        total = total + e[..., k]
    y = np.rint((e * np.floor(F32(1) / sy)).astype(F32) / total[..., None])
    return finish(case, y + case.output_quant.zero)


def concat(case):
    parts = []
    for x, q in zip(case.inputs, case.input_quants):
        real = ((x.astype(I64) - q.zero).astype(F32) * q.scales[0]).astype(F32)
        parts.append(_table(case, real))
    return finish(case, np.concatenate(parts, case.axis))


def quantize(case):
    scaled = (case.inputs[0] / case.output_quant.scales[0]).astype(F32)
    return finish(case, np.rint(scaled) + case.output_quant.zero)


def of_floats(function):
    """A function of two numbers between Dequantize and Quantize; NaN gives the lowest byte."""
    def formula(case):
        a, b = (((x.astype(I64) - q.zero).astype(F32) * q.scales[0]).astype(F32)
                for x, q in zip(case.inputs, case.input_quants))
        with np.errstate(all='ignore'):
            y = _table(case, function(a, b).astype(F32))
        return finish(case, np.where(np.isnan(y), case.output_quant.limits[0], y))
    return formula


ORT = {'sub': of_floats(np.subtract), 'div': of_floats(np.divide), 'mod': of_floats(np.fmod),
       'maximum': of_floats(np.maximum), 'minimum': of_floats(np.minimum),
       'prelu': of_floats(lambda x, slope: np.where(x > 0, x, x * slope)), 'conv': linear, 'depthwise': linear, 'fc': linear, 'add': add, 'mul': mul,
       'average_pool': average_pool, 'mean': global_average_pool, 'leaky_relu': leaky_relu,
       'logistic': logistic, 'softmax': softmax, 'concat': concat, 'matmul': linear, 'batch_matmul': batch_matmul,
       'quantize': quantize}
