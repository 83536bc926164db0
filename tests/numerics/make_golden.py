"""Writes golden/*.csv: inputs and results of every integer arithmetic, from definitions.py.

    make_golden.py            writes the files
    make_golden.py --check    fails when a file differs from what would be written

Numbers are decimal integers; floats are hexadecimal (C's %a), so that they are read back exactly.
"""
import pathlib
import random
import sys
from fractions import Fraction

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy; the files were not checked")
    sys.exit(77)

import definitions as d
from definitions import F32, INT32_MAX, INT32_MIN

FOLDER = pathlib.Path(__file__).parent / "golden"
TYPES = ("s8", "u8")
ZEROS = {"s8": (0, -128, 127, 3), "u8": (0, 255, 128, 7)}


def f32(value):
    return float(F32(value))


def text(value):
    if not isinstance(value, (np.floating, float)):
        return str(value)
    mantissa, exponent = float(value).hex().split("p")
    return f"{mantissa.rstrip('0').rstrip('.')}p{exponent}" if "." in mantissa else f"{mantissa}p{exponent}"


class Rows:
    """Rows of one file; a counter walks through types and zero points, so that all meet all."""

    def __init__(self, columns):
        self.lines = [columns]
        self.width = columns.count(",") + 1
        self.turn = 0

    def add(self, *cells):
        assert len(cells) == self.width, cells
        self.lines.append(",".join(text(cell) for cell in cells))

    def next_output(self):
        self.turn += 1
        kind = TYPES[self.turn % 2]
        return ZEROS[kind][self.turn // 2 % 4], kind

    def content(self):
        return "\n".join(self.lines) + "\n"


def accumulator_for(value, scale):
    """The accumulator whose scaled value is nearest to `value`, within int32."""
    return d.clamp(d.half_even(Fraction(value) / Fraction(scale)), INT32_MIN, INT32_MAX)


def multiplier_rows(rng):
    rows = Rows("bits,scale,multiplier,rshift")
    for bits in (8, 16, 32):
        top = 2.0**(bits - 1)
        scales = [0.1234, 1.0, 0.5, 1.5, 3.0, 2.0**-30, 2.0**-31, 2.0**-32, 2.0**-62, 2.0**-63, 2.0**-64,
                  0.5 * (1 - 2.0**-bits), 1 - 2.0**-(bits + 1), 1 - 2.0**-bits, 1 - 2.0**-(bits - 1),
                  2 - 2.0**-bits, top / 2, top - 1, top * (1 - 2.0**-(bits - 1)), 5e-324, 2.0**-1022, 1e-310,
                  float.fromhex("0x1.fffffffffffffp-1"), float.fromhex("0x1.fffffffffffffp-32")]
        scales += [2.0**-(62 - bits + 2), 2.0**-(62 - bits + 2) * (1 - 2.0**-53), 2.0**-(62 - bits + 1)]
        scales += [float(Fraction(2 * rng.randrange(2**(bits - 2), 2**(bits - 1)) + 1, 2**rng.randrange(2, 64)))
                   for _ in range(24)]  # halfway between two multipliers
        scales += [rng.uniform(0.5, 1) * 2.0**rng.randrange(-64, bits - 1) for _ in range(80)]
        for scale in scales:
            try:
                rows.add(bits, scale, *d.multiplier_of(scale, bits))
            except ValueError:
                assert scale >= top - 0.5
    return rows


def tflite_multiplier_rows(rng):
    rows = Rows("scale_x,scale_w,scale_y,multiplier_double,rshift_double,multiplier_float,rshift_float")
    triples = [(1, 1, 1), (1, 1, 3), (0.1, 0.2, 0.3), (2.0**-60, 1, 1), (2.0**-40, 2.0**-40, 1), (1, 8, 2.0**-20)]
    triples += [(2.0**rng.uniform(-12, 2), 2.0**rng.uniform(-14, 0), 2.0**rng.uniform(-10, 4)) for _ in range(250)]
    for triple in triples:
        scales = [f32(s) for s in triple]
        double, single = d.tflite_scales(*scales)
        rows.add(*scales, *d.multiplier_of(double), *d.multiplier_of(single))
    return rows


def accumulators(rng, multiplier, rshift, count):
    """Extremes, exact ties where there are any, and values around the output's range."""
    step = Fraction(2**rshift, multiplier)  # accumulators for one step of the output
    picks = [INT32_MIN, INT32_MAX, rng.choice([-1, 0, 1])]
    odd = 2 * rng.randrange(-100, 100) + 1
    tie = Fraction(odd, 2) * step
    if tie.denominator == 1 and INT32_MIN <= tie <= INT32_MAX:
        picks += [tie.numerator, d.clamp(-tie.numerator, INT32_MIN, INT32_MAX)]
    first_tie = step / 2  # +-0.5
    if first_tie.denominator == 1 and first_tie <= 2**31:
        picks += [d.clamp(first_tie.numerator, INT32_MIN, INT32_MAX), -first_tie.numerator]
    while len(picks) < count:
        picks.append(d.clamp(floor_of(rng.uniform(-140, 300) * step), INT32_MIN, INT32_MAX))
    return picks[:count] if len(picks) > count else picks


def floor_of(value):
    return d.floor(Fraction(value))


def requantize_rows(rng):
    rows = Rows("path,acc,multiplier,rshift,rounded,zero,type,y")
    for path, scale in d.INTEGER_PATHS.items():
        for rshift in range(63):
            for multiplier, count in ((2**30, 8), (2**31 - 1, 4), (2119995857, 4),
                                      (rng.randrange(2**30, 2**31), 3)):
                for acc in accumulators(rng, multiplier, rshift, count):
                    zero, kind = rows.next_output()
                    rounded = scale(acc, multiplier, rshift)
                    rows.add(path, acc, multiplier, rshift, rounded, zero, kind, d.finish(rounded, zero, kind))
    # 8- and 16-bit multipliers on differences of bytes.
    for bits in (8, 16):
        for rshift in range(0, 31):
            for multiplier in (2**(bits - 2), 2**(bits - 1) - 1, rng.randrange(2**(bits - 2), 2**(bits - 1))):
                for acc in (255, -255, rng.randrange(-254, 255)):
                    zero, kind = rows.next_output()
                    rounded = d.scale_half_up(acc, multiplier, rshift)
                    rows.add("half_up", acc, multiplier, rshift, rounded, zero, kind, d.finish(rounded, zero, kind))
    return rows


def double_rows(rng):
    rows = Rows("acc,scale,zero,type,y")
    scales = [1.0, 0.5, 2.0**-20, 2.0**-31, 2.0**-40, 0.1, 1 / 3, 255.0]
    for scale in scales + [2.0**rng.uniform(-20, 1) for _ in range(30)]:
        for acc in float_accumulators(rng, scale):
            zero, kind = rows.next_output()
            rows.add(acc, scale, zero, kind, d.finish(d.scale_double_away(acc, scale), zero, kind))
    return rows


def qnnpack_rows(rng):
    rows = Rows("scale,multiplier,rshift,acc,zero,type,q31,fp32,precise")
    scales = [2.0**-e for e in range(1, 33)] + [f32(2.0**-e * (2 - 2.0**-23)) for e in range(1, 33)]
    scales += [f32(rng.uniform(1, 2) * 2.0**-rng.randrange(1, 33)) for _ in range(40)]
    for scale in scales:
        multiplier, rshift = d.qnnpack_multiplier(scale)
        for acc in accumulators(rng, multiplier, rshift, 9):
            zero, kind = rows.next_output()
            rows.add(scale, multiplier, rshift, acc, zero, kind, d.qnnpack_q31(acc, scale, zero, kind),
                     d.float_even(acc, scale, zero, kind), d.qnnpack_precise(acc, scale, zero, kind))
    return rows


def float_accumulators(rng, scale):
    picks = [INT32_MIN, INT32_MAX, 2**24 + 1, -(2**24) - 1, 0]
    picks += [accumulator_for(Fraction(2 * rng.randrange(-140, 140) + 1, 2), scale) for _ in range(5)]
    return picks + [accumulator_for(rng.uniform(-140, 300), scale) for _ in range(3)]


def float_rows(rng):
    rows = Rows("acc,scale,bias,zero,type,even,zero_even")
    scales = [1.0, 0.5, 0.25, 2.0**-8, 2.0**-20, 2.0**-32, 1.5, 100.0, f32(0.1), f32(1 / 3), f32(2.0**-126),
              f32(2.0**-149), 0.0]
    scales += [f32(2.0**rng.uniform(-20, 1)) for _ in range(60)]
    for scale in scales:
        for acc in float_accumulators(rng, scale if scale > 2.0**-60 else 1.0):
            zero, kind = rows.next_output()
            bias = f32(rng.choice([0, 0.5, -0.25, rng.uniform(-1e4, 1e4)]))
            rows.add(acc, scale, bias, zero, kind, d.float_even(acc, scale, zero, kind),
                     d.float_zero_even(acc, bias, scale, zero, kind))
    return rows


def post_op_rows(rng):
    rows = Rows("acc,scale,bias,op,alpha,beta,op_scale,old,zero,type,y")
    for _ in range(110):
        for op in ("sum", "relu", "linear", "clip", "abs", "sqrt", "square"):
            scale = f32(2.0**rng.uniform(-12, -4))
            alpha, beta = f32(rng.choice([0, 1, rng.uniform(-2, 2)])), f32(rng.uniform(-8, 8))
            if op == "clip":
                alpha, beta = min(alpha, beta), max(alpha, beta)
            op_scale = f32(rng.choice([1, 0.5, rng.uniform(0.01, 4)]))
            zero, kind = rows.next_output()
            acc = accumulator_for(rng.uniform(0 if op == "sqrt" else -140, 140), scale)
            bias = f32(rng.choice([0, rng.uniform(0, 100)]))
            old = rng.randrange(d.RANGES[kind][0], d.RANGES[kind][1] + 1)
            f = F32(F32(acc) + F32(bias)) * F32(scale)
            f = d.post_op(op, alpha, beta, op_scale, f, old)
            y = d.real_to_byte(F32(f) + F32(zero), "even", 0, kind)
            rows.add(acc, scale, bias, op, alpha, beta, op_scale, old, zero, kind, y)
    add_contracted_rows(rng, rows)
    return rows


def add_contracted_rows(rng, rows):
    """Sums next to a half, whose byte shows whether product and sum are rounded once or twice."""
    found = {"sum": 0, "linear": 0}
    while min(found.values()) < 20:
        op = "sum" if found["sum"] < 20 else "linear"
        near = F32(rng.randrange(-3, 3) + 0.5)
        factor, old = f32(rng.uniform(0.5, 2)), rng.randrange(-127, 128)
        f = f32(rng.uniform(-90, 90))
        if op == "sum":
            f = f32(Fraction(float(near)) - Fraction(factor) * old)
            once, twice = d.fma(factor, F32(old), f), F32(F32(factor) * F32(old)) + F32(f)
            numbers = (0.0, 0.0, factor)
        else:
            beta = f32(Fraction(float(near)) - Fraction(factor) * Fraction(f))
            once, twice = d.fma(factor, f, beta), F32(F32(factor) * F32(f)) + F32(beta)
            numbers = (factor, beta, 1.0)
        byte = d.real_to_byte(once, "even", 0, "s8")
        if byte != d.real_to_byte(twice, "even", 0, "s8"):
            found[op] += 1
            rows.add(0, 1.0, f, op, *numbers, old, 0, "s8", byte)


def ascend_rows(rng):
    rows = Rows("acc,deq_scale,sqrt_dequant,bias,relu,half_bits,scale,offset,sqrt_quant,rounding,type,y")
    for i in range(900):
        deq = f32(rng.choice([2.0**-rng.randrange(0, 24), 2.0**rng.uniform(-16, 2)]))
        sqrt_dequant, sqrt_quant, relu = int(i % 7 == 0), int(i % 5 == 0), int(i % 3 == 0)
        limit = deq * deq if sqrt_dequant else deq
        acc = rng.choice([INT32_MIN, INT32_MAX, 0, 1]) if i % 11 == 0 else accumulator_for(
            rng.uniform(-200, 200), limit)
        bias = float(np.float16(rng.choice([0, rng.uniform(-20, 20), 2.0**-24])))
        half = d.ascend_dequant(acc, deq, bias, relu, sqrt_dequant)
        scale = f32(rng.choice([1, 2, 0.5, 2.0**rng.uniform(-4, 3)]))
        kind = TYPES[i % 2]
        offset = f32(rng.choice([0, 0, -128, 3, 0.5, rng.uniform(-100, 100)]))
        if i % 4 == 1 and np.isfinite(half):  # a tie: scale 1, offset half an integer away
            scale, offset = 1.0, f32(Fraction(rng.randrange(-100, 100)) + Fraction(1, 2) - Fraction(float(half)))
        rounding = tuple(d.REAL_ROUNDINGS)[i % 5]
        y = d.ascend_quant(half, scale, offset, sqrt_quant, rounding, kind)
        rows.add(acc, deq, sqrt_dequant, bias, relu, int(np.float16(half).view(np.uint16)), scale, offset,
                 sqrt_quant, rounding, kind, y)
    return rows


def ascend_pack_rows(rng):
    rows = Rows("deq_scale,shift,offset_w,packed")
    for _ in range(40):
        scale = f32(2.0**rng.uniform(-20, 4))
        for shift, offset_w in ((0, 0), (rng.randrange(0, 32), rng.randrange(-128, 128))):
            rows.add(scale, shift, offset_w, d.ascend_pack(scale, shift, offset_w))
    return rows


def scales_around(rng):
    base = 2.0**rng.uniform(-8, 0)
    return tuple(f32(base * 2.0**rng.uniform(-2, 2)) for _ in range(3))


def caffe2_add_rows(rng):
    rows = Rows("scale_a,scale_b,scale_y,multiplier_a,multiplier_b,shift,a,zero_a,b,zero_b,zero_y,type,y")
    triples = [(1.0, 1.0, 2.0), (1.0, 0.5, 1.0), (255.0, 0.0625, 1.0), (2.0**-14, 2.0**-14, 1.0)]
    for scales in triples + [scales_around(rng) for _ in range(36)]:
        factors = d.caffe2_add_factors(*scales)
        for _ in range(12):
            zero_y, kind = rows.next_output()
            low, high = d.RANGES[kind]
            a, b, zero_a, zero_b = (rng.randrange(low, high + 1) for _ in range(4))
            rows.add(*scales, *factors, a, zero_a, b, zero_b, zero_y, kind,
                     d.caffe2_add(a, b, zero_a, zero_b, factors, zero_y, kind))
    return rows


def tflite_add_rows(rng):
    rows = Rows("path,scale_a,scale_b,scale_y,a,zero_a,b,zero_b,zero_y,type,y")
    for i in range(40):
        scales = (0.5, 0.5, 1.0) if i == 0 else scales_around(rng)
        pairs = d.tflite_add_pairs(*scales)
        for path in ("two_step", "half_up"):
            for _ in range(6):
                zero_y, kind = rows.next_output()
                low, high = d.RANGES[kind]
                a, b, zero_a, zero_b = (rng.randrange(low, high + 1) for _ in range(4))
                y = d.tflite_add(a, b, (zero_a, zero_b, zero_y), pairs, path, kind)
                rows.add(path, *scales, a, zero_a, b, zero_b, zero_y, kind, y)
    return rows


def fma_add_rows(rng):
    rows = Rows("a,b,ratio_a,ratio_b,fixed,type,y")
    for i in range(400):
        kind = TYPES[i % 2]
        ratio_a, ratio_b = ((0.5, 0.5) if i % 4 == 0 else (f32(2.0**rng.uniform(-3, 2)) for _ in range(2)))
        a, b = (rng.randrange(d.RANGES[kind][0], d.RANGES[kind][1] + 1) for _ in range(2))
        fixed = f32(rng.choice([0, 0.5, rng.randrange(-200, 200), rng.uniform(-200, 200)]))
        rows.add(a, b, ratio_a, ratio_b, fixed, kind, d.fma_add(a, b, ratio_a, ratio_b, fixed, kind))
    return rows


def average_pool_rows(rng):
    """taps: the integers of the window, separated by ';'. multiplier, rshift: form requantize alone."""
    rows = Rows("form,taps,scale_x,zero_x,scale_y,zero_y,offset,type,y")
    for i in range(160):
        zero_y, kind = rows.next_output()
        low, high = d.RANGES[kind]
        count = rng.choice([1, 2, 4, 9, 49, 6, 3])
        centre = rng.randrange(low, high + 1)
        taps = [d.clamp(centre + rng.randrange(-20, 21), low, high) for _ in range(count)]
        joined = ";".join(map(str, taps))
        scale_x = f32(2.0**rng.uniform(-6, 0))
        scale_y = scale_x if i % 3 == 0 else f32(scale_x * 2.0**rng.uniform(-1, 1))
        zero_x = zero_y if i % 3 == 0 else rng.randrange(low, high + 1)
        ratio = F32(scale_x) / F32(scale_y)
        offset = f32(zero_y - float(ratio) * zero_x)
        common = (scale_x, zero_x, scale_y, zero_y, offset, kind)
        rows.add("scale_offset", joined, *common, d.pool_scale_offset(taps, ratio, offset, kind))
        rows.add("integer", joined, *common, d.pool_integer(taps, kind))
        rows.add("dequantized", joined, *common, d.pool_dequantized(taps, scale_x, zero_x, scale_y, zero_y, kind))
        rows.add("scale_sum_away", joined, *common, d.pool_scale_sum_away(taps, ratio, zero_x, zero_y, kind))
    return rows


FILES = {
    "multiplier": multiplier_rows,
    "tflite_multiplier": tflite_multiplier_rows,
    "requantize": requantize_rows,
    "double": double_rows,
    "qnnpack": qnnpack_rows,
    "float": float_rows,
    "post_op": post_op_rows,
    "ascend": ascend_rows,
    "ascend_pack": ascend_pack_rows,
    "caffe2_add": caffe2_add_rows,
    "tflite_add": tflite_add_rows,
    "fma_add": fma_add_rows,
    "average_pool": average_pool_rows,
}


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__)
    differ = []
    for name, make in FILES.items():
        content = make(random.Random(f"rshift {name}")).content()
        path = FOLDER / f"{name}.csv"
        if not check:
            path.write_text(content, encoding="ascii")
            print(f"{path.name}: {content.count(chr(10)) - 1} rows, {len(content)} bytes")
        elif not path.exists() or path.read_text(encoding="ascii") != content:
            differ.append(path.name)
    if check:
        extra = sorted(p.name for p in FOLDER.glob("*.csv") if p.stem not in FILES)
        if differ or extra:
            sys.exit(f"differ: {differ}, without a generator: {extra}; run make_golden.py")
        print(f"{len(FILES)} files are as make_golden.py writes them")


if __name__ == "__main__":
    main()
