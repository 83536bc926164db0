"""Multipliers and roundings of the profiles, and the fixed-point exp of TFLite, in numpy.

D2 = two roundings of a Q31 product (half up, then half away from zero), D2_UP = both half up,
RNE = float32 product, ties to even. Arrays are int64; nothing here wraps silently.
"""

import math

import numpy as np

F32, F64, I64 = np.float32, np.float64, np.int64
Q31 = 1 << 31


def round_away(x):
    """Half away from zero, as C's round()."""
    return np.where(x >= 0, np.floor(x + 0.5), np.ceil(x - 0.5))


def quantize_multiplier(m):
    """double >= 0 -> (q, shift): m = q * 2^(shift - 31), q in [2^30, 2^31); tiny ones are (0, 0)."""
    if m == 0.0:
        return 0, 0
    fraction, shift = math.frexp(m)
    q = math.floor(fraction * Q31 + 0.5)
    if q == Q31:
        q, shift = q // 2, shift + 1
    return (q, shift) if shift >= -31 else (0, 0)


def srdhm(a, b):
    """Rounding doubling high product of int32, half up; the saturating pair is outside our range."""
    ab = np.asarray(a, I64) * np.asarray(b, I64)
    total = ab + np.where(ab >= 0, 1 << 30, 1 - (1 << 30))
    return np.where(total >= 0, total >> 31, -((-total) >> 31))


def rounding_shift(x, e):
    """x / 2^e, half away from zero."""
    mask = (I64(1) << np.asarray(e, I64)) - 1
    return (x >> e) + ((x & mask) > (mask >> 1) + (x < 0))


def shifted_left(x, m):
    left = np.asarray(x, I64) << max(m[1], 0)
    assert np.abs(left).max(initial=0) <= Q31, 'the frameworks wrap here: not a case to compare'
    return left


def d2(x, m):
    return rounding_shift(srdhm(shifted_left(x, m), m[0]), max(-m[1], 0))


def d2_up(x, m):
    high = (shifted_left(x, m) * I64(m[0]) + (1 << 30)) >> 31
    right = max(-m[1], 0)
    return (high + (1 << right >> 1)) >> right


def rne(x, scale):
    return np.rint(x.astype(F32) * F32(scale)).astype(I64)


def fma(a, b, c):
    """float32 fused multiply-add: a 48-bit product and one sum in float64, then float32."""
    return (np.asarray(a, F64) * F64(b) + np.asarray(c, F64)).astype(F32)


# -- raw int32 with n integer bits stands for raw / 2^(31 - n) -------------------------------------

ONE = Q31 - 1


def saturate(x):
    return np.clip(x, -Q31, ONE)


def _exp_near_zero(a):
    """exp on [-1/4, 0), no integer bits: the series around -1/8 to the fourth power."""
    x = a + (1 << 28)
    x2 = srdhm(x, x)
    x3, x4 = srdhm(x2, x), srdhm(x2, x2)
    third = srdhm(rounding_shift(x4, 2) + x3, 715827883)  # 1/3
    rest = rounding_shift(third + x2, 1)
    eighth = 1895147668  # exp(-1/8)
    return saturate(eighth + srdhm(eighth, x + rest))


def exp_negative(a, integer_bits):
    """exp of values <= 0; the result has no integer bits."""
    fraction = 31 - integer_bits
    quarter = 1 << (fraction - 2)
    low = (a & (quarter - 1)) - quarter
    result = _exp_near_zero(saturate(low << integer_bits))
    rest = low - a
    for k in range(-2, integer_bits):
        factor = math.floor(math.exp(-2.0**k) * Q31 + 0.5)
        result = np.where(rest & (1 << (fraction + k)), srdhm(result, factor), result)
    return np.where(a == 0, ONE, result)


def reciprocal_one_plus(a):
    """1 / (1 + a) for a in [0, 1): Newton from 48/17 - 32/17 d, d = (1 + a) / 2, three steps."""
    half = (a + ONE + 1) >> 1
    x = 1515870810 + srdhm(half, -1010580540)
    for _ in range(3):
        x = x + saturate(srdhm(x, (1 << 29) - srdhm(half, x)) << 2)
    return saturate(x << 1)
