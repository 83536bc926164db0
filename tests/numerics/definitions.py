"""The arithmetic of every profile in Python integers, fractions and numpy floats.

Written from the frameworks' definitions and NUMERICS.md alone; it shares no code with quantize/numerics,
which golden_test.cc holds against the rows that make_golden.py makes with it.
"""
import struct
from fractions import Fraction

import numpy as np

F32, F16 = np.float32, np.float16
INT32_MIN, INT32_MAX = -2**31, 2**31 - 1
RANGES = {"s8": (-128, 127), "u8": (0, 255)}


def clamp(value, low, high):
    return max(low, min(high, value))


# --- roundings of exact rational numbers ------------------------------------------------------------

def floor(value):
    return value.numerator // value.denominator


def half_up(value):
    return floor(value + Fraction(1, 2))


def half_away(value):
    return half_up(value) if value >= 0 else -half_up(-value)


def half_even(value):
    whole = floor(value)
    rest = value - whole
    if rest == Fraction(1, 2):
        return whole + whole % 2
    return whole + (rest > Fraction(1, 2))


def truncate(value):
    return floor(value) if value >= 0 else -floor(-value)


def ceiling(value):
    return -floor(-value)


REAL_ROUNDINGS = {"even": half_even, "away": half_away, "floor": floor, "ceil": ceiling, "truncate": truncate}


def real_to_byte(value, rounding, zero, kind):
    """A finite or infinite float to an integer: rounded, zero added, saturated."""
    low, high = RANGES[kind]
    value = float(value)
    if np.isnan(value):
        return clamp(zero, low, high)
    if np.isinf(value):
        return high if value > 0 else low
    return clamp(REAL_ROUNDINGS[rounding](Fraction(value)) + zero, low, high)


# --- binary32 with one rounding of an exact value ----------------------------------------------------

def to_f32(exact):
    """The nearest binary32 of a fraction, ties to even (normal range, or 0)."""
    if exact == 0:
        return F32(0)
    sign, magnitude = (-1, -exact) if exact < 0 else (1, exact)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    while Fraction(2)**exponent > magnitude:
        exponent -= 1
    while Fraction(2)**(exponent + 1) <= magnitude:
        exponent += 1
    unit = Fraction(2)**max(exponent - 23, -149)
    return F32(float(sign * half_even(magnitude / unit) * unit))


def fma(a, b, c):
    return to_f32(Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c)))


def bits_of(value):
    return struct.unpack("<I", struct.pack("<f", float(value)))[0]


# --- scales as multipliers ---------------------------------------------------------------------------

def multiplier_of(scale, bits=32):
    """Multiplier in [2^(bits-2), 2^(bits-1)) and rshift of a positive scale; (0, 0) beyond rshift 62."""
    exact = Fraction(scale)
    rshift = 0
    while exact * 2**rshift >= 2**(bits - 1):
        rshift -= 1
    while exact * Fraction(2)**rshift < 2**(bits - 2):
        rshift += 1
        if rshift > 63:  # rounding can take back one
            return 0, 0
    multiplier = half_up(exact * Fraction(2)**rshift)
    if multiplier == 2**(bits - 1):
        multiplier, rshift = multiplier // 2, rshift - 1
    if rshift > 62:
        return 0, 0
    if rshift < 0:
        raise ValueError("the scale is too large")
    return multiplier, rshift


def tflite_scales(scale_x, scale_w, scale_y):
    """The real multiplier in double (D1, D2) and in float (F2), operation by operation."""
    double = float(scale_x) * float(scale_w) / float(scale_y)
    single = F32(F32(scale_x) * F32(scale_w)) / F32(scale_y)
    return double, float(single)


def qnnpack_multiplier(scale):
    """24-bit mantissa of an f32 scale in [2^-32, 1) as Multiplier / 2^rshift, Multiplier in [2^30, 2^31)."""
    bits = bits_of(scale)
    mantissa = (bits & 0x7FFFFF) | 0x800000
    return mantissa << 7, 31 + 127 + 31 - 32 - (bits >> 23)


# --- int32 accumulator to integer, before zero point and saturation ----------------------------------

def scale_half_up(acc, multiplier, rshift):
    return half_up(Fraction(acc * multiplier, 2**rshift))


def scale_half_away(acc, multiplier, rshift):
    return half_away(Fraction(acc * multiplier, 2**rshift))


def wrap32(value):
    return (value + 2**31) % 2**32 - 2**31


def doubling_high(a, b):
    """TFLite and gemmlowp: nudge by the sign of the product, then C's division, which truncates."""
    if a == INT32_MIN and b == INT32_MIN:
        return INT32_MAX
    product = a * b
    nudged = product + (2**30 if product >= 0 else 1 - 2**30)
    return truncate(Fraction(nudged, 2**31))


def divide_by_power(value, exponent):
    """TFLite's RoundingDivideByPOT, on two's complement bits."""
    mask = 2**exponent - 1
    remainder = value & mask
    threshold = (mask >> 1) + (1 if value < 0 else 0)
    return (value >> exponent) + (1 if remainder > threshold else 0)


def scale_two_step(acc, multiplier, rshift):
    left, right = max(31 - rshift, 0), max(rshift - 31, 0)
    return divide_by_power(doubling_high(wrap32(acc << left), multiplier), right)


def scale_two_step_up(acc, multiplier, rshift):
    """As two_step, but the second rounding is half up (ruy on x86)."""
    left, right = max(31 - rshift, 0), max(rshift - 31, 0)
    return half_up(Fraction(doubling_high(wrap32(acc << left), multiplier), 2**right))


def scale_double_away(acc, scale):
    """A binary64 product, then half away from zero (TFLite's reference FullyConnected)."""
    return half_away(Fraction(float(acc) * scale))


INTEGER_PATHS = {"half_up": scale_half_up, "two_step": scale_two_step,
                 "two_step_up": scale_two_step_up, "half_away": scale_half_away}


def finish(rounded, zero, kind):
    return clamp(rounded + zero, *RANGES[kind])


# --- QNNPACK ------------------------------------------------------------------------------------------

def qnnpack_q31(acc, scale, zero, kind):
    multiplier, rshift = qnnpack_multiplier(scale)
    product = (acc * multiplier + 2**30) >> 31
    shift = rshift - 31
    mask = 2**shift - 1
    remainder = (product & mask) - (1 if product < 0 else 0)
    return finish((product >> shift) + (1 if remainder > mask >> 1 else 0), zero, kind)


def qnnpack_precise(acc, scale, zero, kind):
    """Sign and magnitude, one rounding of |acc| times the 24-bit mantissa."""
    bits = bits_of(scale)
    mantissa = (bits & 0x7FFFFF) | 0x800000
    shift = 127 + 23 - (bits >> 23)
    magnitude = (abs(acc) * mantissa + 2**(shift - 1)) >> shift
    return finish(magnitude if acc >= 0 else -magnitude, zero, kind)


# --- float scales -------------------------------------------------------------------------------------

def float_even(acc, scale, zero, kind):
    """ONNX Runtime, XNNPACK on x86, QNNPACK fp32: the zero point is added to the rounded value."""
    return real_to_byte(F32(acc) * F32(scale), "even", zero, kind)


def float_zero_even(acc, bias, scale, zero, kind):
    """oneDNN: the zero point is added before the rounding."""
    value = F32(F32(acc) + F32(bias)) * F32(scale)
    return real_to_byte(F32(value) + F32(zero), "even", 0, kind)


def post_op(name, alpha, beta, scale, f, old):
    """One post-operation of oneDNN, in the order and with the contractions of its vector kernels."""
    alpha, beta, scale, f = F32(alpha), F32(beta), F32(scale), F32(f)
    if name == "sum":
        return fma(scale, F32(old), f)
    value = {"relu": lambda: f if f > 0 else F32(alpha * f),
             "linear": lambda: fma(alpha, f, beta),
             "clip": lambda: min(max(f, alpha), beta),
             "abs": lambda: abs(f),
             "sqrt": lambda: np.sqrt(f) if f >= 0 else F32(np.nan),
             "square": lambda: F32(f * f)}[name]()
    return F32(value * scale)


# --- Ascend -------------------------------------------------------------------------------------------

def to_half(value):
    with np.errstate(over="ignore"):
        return F32(F16(F32(value)))


def ascend_dequant(acc, scale, bias, relu, sqrt_mode):
    value = F32(acc) * F32(scale)
    if sqrt_mode:
        value = F32(value) * F32(scale)
    half = to_half(value)
    half = F32(F16(half) + F16(bias))  # both operands are binary16: numpy rounds the sum once
    return F32(0) if relu and half < 0 else half


def ascend_quant(half, scale, offset, sqrt_mode, rounding, kind):
    value = F32(half) * F32(scale)
    if sqrt_mode:
        value = F32(value) * F32(scale)
    return real_to_byte(F32(value) + F32(offset), rounding, 0, kind)


def ascend_pack(scale, shift, offset_w):
    return bits_of(scale) | (shift & 0xFF) << 32 | (offset_w & 0xFF) << 40


# --- Caffe2's Int8Add (QNNPACK) -----------------------------------------------------------------------

def caffe2_add_factors(scale_a, scale_b, scale_y):
    """22-bit multipliers of the two ratios under one shift: the larger is in [2^21, 2^22)."""
    ratio_a, ratio_b = F32(scale_a) / F32(scale_y), F32(scale_b) / F32(scale_y)
    exponent = (bits_of(max(ratio_a, ratio_b)) >> 23) - 127
    shift = 21 - exponent
    return tuple(half_even(Fraction(float(r)) * 2**shift) for r in (ratio_a, ratio_b)) + (shift,)


def caffe2_add(a, b, zero_a, zero_b, factors, zero_y, kind):
    acc = (a - zero_a) * factors[0] + (b - zero_b) * factors[1]
    return finish(half_away(Fraction(acc, 2**factors[2])), zero_y, kind)


# --- other additions ----------------------------------------------------------------------------------

def tflite_add(a, b, zeros, pairs, path, kind, left_shift=20):
    scale = INTEGER_PATHS[path]
    zero_a, zero_b, zero_y = zeros
    total = (scale((a - zero_a) << left_shift, *pairs[0]) + scale((b - zero_b) << left_shift, *pairs[1]))
    return finish(scale(total, *pairs[2]), zero_y, kind)


def tflite_add_pairs(scale_a, scale_b, scale_y, left_shift=20):
    twice = 2 * max(float(scale_a), float(scale_b))
    return tuple(multiplier_of(s) for s in (float(scale_a) / twice, float(scale_b) / twice,
                                            twice / (2**left_shift * float(scale_y))))


def fma_add(a, b, ratio_a, ratio_b, fixed, kind):
    """On unsigned bytes; s8 tensors are moved by 128 before and after."""
    shift = 128 if kind == "s8" else 0
    value = fma(F32(a + shift), ratio_a, fma(F32(b + shift), ratio_b, fixed))
    return real_to_byte(value, "even", -shift, kind)


# --- average pooling ----------------------------------------------------------------------------------

def pool_scale_offset(taps, ratio, offset, kind):
    factor = F32(ratio) / F32(len(taps))
    return real_to_byte(F32(factor * F32(sum(taps))) + F32(offset), "even", 0, kind)


def pool_integer(taps, kind):
    total, count = sum(taps), len(taps)
    half = count // 2
    return clamp(truncate(Fraction(total + half if total > 0 else total - half, count)), *RANGES[kind])


def pool_dequantized(taps, scale_x, zero_x, scale_y, zero_y, kind):
    """ONNX Runtime: on unsigned zero points, the zero point before the rounding."""
    shift = 128 if kind == "s8" else 0
    total = F32(0)
    for tap in taps:
        total = F32(total + F32(F32(tap - zero_x) * F32(scale_x)))
    value = F32(F32(total / F32(len(taps))) / F32(scale_y)) + F32(zero_y + shift)
    return real_to_byte(value, "even", -shift, kind)


def pool_scale_sum_away(taps, ratio, zero_x, zero_y, kind):
    factor = F32(ratio) / F32(len(taps))
    value = F32(sum(taps) - len(taps) * zero_x) * factor
    return real_to_byte(value, "away", zero_y, kind)
