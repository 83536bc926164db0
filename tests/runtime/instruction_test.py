"""Checks which objects of our libraries hold instructions that not every x86-64 CPU has.

    instruction_test.py objects <object>...        only dispatched units and functions may have
                                                   them; such a unit shares no inline function
    instruction_test.py selftest <C++ compiler>    the check notices what it is for

An inline function that is emitted twice, once by a unit compiled for AVX-512, is kept once: the
linker picks either, and a program dies on a CPU that never asked for that unit. So a dispatched
unit may define no symbol that the linker could choose over another's.

Prints one "object: symbol: what is wrong" per violation and exits 1 when there is one.
"""
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

# Objects that are entered only after the CPU was asked: how their paths end.
DISPATCHED = {
    "crc32c_sse42.cc.o", "crc32c_vpclmul.cc.o", "kernels/avx2/unit.cc.o",
    "kernels/avxvnni/unit.cc.o", "kernels/avx512vnni/unit.cc.o", "kernels/avx2/weight_sums.cc.o",
    "kernels/avx512vnni/weight_sums.cc.o", "row_kernels_avx2.cc.o",
    "row_kernels_avx512.cc.o",
}
# Functions with a target attribute, in objects that have others too: a part of their mangled names.
DISPATCHED_FUNCTIONS = {
    "kernels/generic/elementwise.cc.o": re.compile(r"Avx(?:2|512)"),
    "kernels/generic/fixed_recurrent.cc.o": re.compile(r"Avx(?:2|512)"),
    "kernels/generic/int16.cc.o": re.compile(r"Avx(?:2|512)"),
    "kernels/generic/int16_finish.cc.o": re.compile(r"Avx(?:2|512)"),
    "kernels/generic/int16_lines.cc.o": re.compile(r"Avx(?:2|512)"),
    "kernels/generic/int16_high_words.cc.o": re.compile(r"Avx(?:2|512)"),
    "kernels/generic/int16_quotients.cc.o": re.compile(r"Avx(?:2|512)"),
    "kernels/generic/normalize.cc.o": re.compile(r"Avx(?:2|512)"),
    "kernels/generic/transpose_words.cc.o": re.compile(r"Avx(?:2|512)"),
    "kernels/generic/recurrent.cc.o": re.compile(r"ByAvx(?:2|512)"),
    "kernels/generic/post_ops.cc.o": re.compile(r"Avx(?:2|512)"),
    "kernels/avx512/add.cc.o": re.compile("Avx512"),
    "kernels/avx512/quantize.cc.o": re.compile("Avx512"),
    "kernels/avx512/lut.cc.o": re.compile("Vbmi"),
    "kernels/avx512/softmax_rows.cc.o": re.compile("Vbmi"),
    "kernels/avx512/shuffle_bytes.cc.o": re.compile("Vbmi"),
    "kernels/avx512/transpose_bytes.cc.o": re.compile("Vbmi"),
}

# What x86-64 does not promise: SSE3 and later without a VEX or EVEX prefix.
NEWER = re.compile(
    r"^(?:addsub[ps][sd]|h(?:add|sub)p[sd]|lddqu|mov(?:ddup|shdup|sldup)|fisttp\w*|monitor|mwait|"
    r"pshufb|ph(?:add|sub)(?:w|d|sw)|pmaddubsw|pmulhrsw|psign[bwd]|pabs[bwd]|palignr|"
    r"blendv?p[sd]|pblend(?:w|vb)|dpp[sd]|extractps|insertps|movntdqa|mpsadbw|packusdw|pcmpeqq|"
    r"pextr[bdq]|phminposuw|pinsr[bdq]|pmax(?:sb|sd|ud|uw)|pmin(?:sb|sd|ud|uw)|"
    r"pmov[sz]x\w\w|pmuldq|pmulld|ptest|round[ps][sd]|pcmp[ei]str[im]|pcmpgtq|crc32[bwlq]?|"
    r"popcnt[wlq]?|lzcnt[wlq]?|movbe[wlq]?|aes\w+|pclmul\w+|sha(?:1|256)\w+|ad[co]x[lq]?|"
    r"rdrand|rdseed|xsave\w*|xrstor\w*)$")
FUNCTION = re.compile(r"^[0-9a-f]+ <(.*)>:$")
# "  4:\tc5 fd 6f c1          \tvmovdqa %ymm1,%ymm0"
INSTRUCTION = re.compile(r"^\s*[0-9a-f]+:\t((?:[0-9a-f]{2} )+)\s*\t(\S+)")
VEX_OR_EVEX = {"c4", "c5", "62"}  # as a first byte, in 64-bit mode they mean nothing else


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def named(path):
    """What the tables above call the object, or its path."""
    return next((name for name in (*DISPATCHED, *DISPATCHED_FUNCTIONS)
                 if path.endswith("/" + name)), path)


def objects_in(listing, pattern):
    """(object, line) of a listing in which a line matching `pattern` names the next object."""
    name = None
    for line in listing.splitlines():
        if found := pattern.match(line):
            name = named(found[1])
        elif name is not None:
            yield name, line


def is_newer(first_bytes, mnemonic):
    return first_bytes.split()[0] in VEX_OR_EVEX or NEWER.match(mnemonic) is not None


def newer_instructions(objects):
    """{(object, function): (first such mnemonic, how many)}"""
    found, function = collections.OrderedDict(), "?"
    listing = run("objdump", "-d", "--wide", *objects)
    for member, line in objects_in(listing, re.compile(r"^(\S+):\s+file format elf64-x86-64$")):
        if start := FUNCTION.match(line):
            function = start[1]
        elif (code := INSTRUCTION.match(line)) and is_newer(code[1], code[2]):
            first, count = found.get((member, function), (code[2], 0))
            found[member, function] = (first, count + 1)
    return found


def shared_symbols(objects):
    """(object, symbol) that the linker may take from another object instead: weak, unique, common."""
    listing = run("nm", "--defined-only", "--print-file-name", *objects)
    for line in listing.splitlines():
        path, _, symbol = line.partition(":")
        parts = symbol.split()
        # DW.ref: a pointer for exception tables, the same in every object.
        if len(parts) == 3 and parts[1] in "WwVvuC" and not parts[2].startswith("DW.ref."):
            yield named(path), parts[2]


def check_objects(*objects):
    violations, dispatched = [], set()
    for (member, function), (mnemonic, count) in newer_instructions(objects).items():
        allowed = DISPATCHED_FUNCTIONS.get(member)
        if member in DISPATCHED:
            dispatched.add(member)
        elif allowed is not None and allowed.search(function):
            dispatched.add(member)
        else:
            violations.append(f"{member}: {function}: {mnemonic} and {count - 1} more "
                              "instructions that not every x86-64 CPU has")
    violations += [f"{member}: {symbol}: is not this unit's alone: the linker may give it to "
                   "code that runs on any CPU"
                   for member, symbol in shared_symbols(objects) if member in DISPATCHED]
    # Were a unit renamed or the disassembly unreadable, the check would pass for the wrong reason.
    missing = (DISPATCHED | set(DISPATCHED_FUNCTIONS)) - dispatched
    violations += [f"{name}: expected newer instructions here, found none"
                   for name in sorted(missing)]
    return violations


SELFTEST = {  # object -> (flags, source, what is found in it)
    "plain": ([], "double f(double a, double b) { return a * b; }", None),
    "leak": (["-mavx2"], "double leak(double a, double b) { return a * b; }", "_Z4leakdd: v"),
    "popcnt": (["-mpopcnt"], "int bits(unsigned a) { return __builtin_popcount(a); }",
               "_Z4bitsj: popcnt"),
    "bmi": (["-mbmi2"], "unsigned long s(unsigned long a, int n) { return a << n; }",
            "_Z1smi: shlx"),
    "part": ([], "double Base(double a, double b) { return a * b; }\n"
                 "[[gnu::target(\"avx2\")]] double MulAvx2(double a, double b) { return a * b; }",
             "_Z7MulAvx2dd: v"),
    # A dispatched unit: newer instructions are its business, a weak function is not.
    "kernels/avx2/unit": (["-mavx2"], "inline double twice(double a) { return a * 2; }\n"
                         "double (*g)(double) = twice;", "_Z5twiced: is not this unit's alone"),
}


def selftest(compiler):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        objects = []
        for stem, (flags, source, _) in SELFTEST.items():
            (folder / stem).parent.mkdir(parents=True, exist_ok=True)
            (folder / f"{stem}.cc").write_text(source + "\n")
            objects.append(str(folder / f"{stem}.cc.o"))
            run(compiler, "-O2", *flags, "-c", str(folder / f"{stem}.cc"), "-o", objects[-1])
        found = check_objects(*objects)
    problems = []
    for stem, (_, _, wanted) in SELFTEST.items():
        lines = [line for line in found
                 if f"{stem}.cc.o: " in line and "expected newer" not in line]
        if (len(lines) != 1 or wanted not in lines[0]) if wanted else lines:
            problems.append(f"selftest: {stem}: expected {wanted}, found {lines}")
    if not any("kernels/avxvnni/unit.cc.o: expected newer" in line for line in found):
        problems.append("selftest: a missing unit was not noticed")
    return problems


def main(arguments):
    checks = {"objects": check_objects, "selftest": selftest}
    if len(arguments) < 2 or arguments[0] not in checks:
        sys.exit(__doc__)
    violations = checks[arguments[0]](*arguments[1:])
    print("\n".join(violations) if violations else f"{arguments[0]}: nothing wrong")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
