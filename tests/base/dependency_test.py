"""Checks who includes whom, what a runtime-only program links, and that every folder has a README.

    dependency_test.py includes <source dir>            #include directions, third-party headers
    dependency_test.py loops <source dir>               X.h and X.cc together: no loop of includes
    dependency_test.py readmes <source dir>             README.md in every folder that owns something
    dependency_test.py libraries <program> [max bytes]  shared libraries of a runtime-only program
    dependency_test.py selftest                         the checks notice what they are for

Prints one "file:line: what is wrong" per violation and exits 1 when there is one.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

# Folder -> what it may include of our own. The longest matching folder counts; a name allows that
# folder and, unless the table lists them apart, everything below it.
BASE = ["base"]
NUMERICS = BASE + ["isa", "quantize/numerics"]
FORMAT = BASE + ["isa", "codegen/container", "codegen/packing"]
RUNTIME = FORMAT + ["quantize/numerics", "runtime"]
# How a kernel computes: for the folders of runtime/kernels alone. The rest of the runtime includes
# the headers beside them.
DRIVER = ["runtime/kernels/driver", "runtime/kernels/simd"]
KERNELS = ["runtime/kernels"] + DRIVER + [f"runtime/kernels/{isa}" for isa in (
    "generic", "avx2", "avxvnni", "avx512", "avx512vnni", "neondot")]
RUNTIME += ["runtime/kernels"]
GRAPH = BASE + ["isa", "graph"]
YAML = BASE + ["yaml"]
TARGET = YAML + ["target"]
RANGES = GRAPH + YAML + ["quantize/ranges"]
EQUALIZE = RANGES + ["quantize/equalize"]
QUANTIZE = EQUALIZE + ["quantize/numerics", "quantize", "target"]
CODEGEN = QUANTIZE + FORMAT + ["codegen"]
PREPROCESS = BASE + ["preprocess"]
CALIBRATE = CODEGEN + ["preprocess", "runtime", "runtime/onednn", "calibrate"]
INTEROP = QUANTIZE + ["interop"]
PIPELINE = CALIBRATE + ["interop", "pipeline"]
EVERYTHING = PIPELINE + ["runtime/kernels", "rshift", "tools", "tests", "examples"]
ALLOWED = {
    "base": BASE,
    "quantize/numerics": NUMERICS,
    "isa": BASE + ["isa"],
    "yaml": YAML,
    "target": TARGET,
    "codegen/container": FORMAT,
    "codegen/packing": FORMAT,
    "runtime": RUNTIME,
    "runtime/onednn": RUNTIME + ["runtime/onednn"],
    "graph": GRAPH,
    "quantize/ranges": RANGES,
    "quantize/equalize": EQUALIZE,
    "quantize": QUANTIZE,
    "interop": INTEROP,
    "codegen": CODEGEN,
    "preprocess": PREPROCESS,
    "calibrate": CALIBRATE,
    "pipeline": PIPELINE,
    "rshift": PIPELINE + ["rshift"],
    "python": ["rshift", "python"],
    "tools": [folder for folder in EVERYTHING if folder != "tests"],
    "examples": ["rshift"],
    "tests": EVERYTHING + KERNELS,
}
ALLOWED.update({folder: RUNTIME + KERNELS for folder in KERNELS})
# Built with flags of their own, or for one instruction set by templates: what these folders include
# beyond each other must hold no code, or the linker may give an inline function with newer
# instructions to a program on a CPU without them.
UNIT = DRIVER + ["runtime/kernels/kernels.h", "runtime/kernels/weight_sums.h"]
KERNEL_UNITS = {
    "runtime/kernels/driver": UNIT,
    "runtime/kernels/simd": UNIT,
    "runtime/kernels/avx2": UNIT + ["runtime/kernels/avx2"],
    "runtime/kernels/avxvnni": UNIT + ["runtime/kernels/avx2", "runtime/kernels/avxvnni"],
    "runtime/kernels/avx512vnni": UNIT + ["runtime/kernels/avx512vnni"],
    "runtime/kernels/neondot": UNIT + ["runtime/kernels/neondot"],
}
# What those headers include themselves. Neither they nor these may define a function.
CODE_FREE = {
    "runtime/kernels/kernels.h": ["codegen/packing/panel.h", "isa/functions.h",
                                  "isa/kernel_attributes.h", "runtime/kernels/s16_tiles.h"],
    "runtime/kernels/s16_tiles.h": [],
    "runtime/kernels/weight_sums.h": [],
    "codegen/packing/panel.h": [],
    "isa/functions.h": ["isa/functions.def"],
    "isa/kernel_attributes.h": ["isa/functions.h"],
}
FUNCTION_BODY = re.compile(r"\)\s*(?:const\b|noexcept\b|\s)*(?:\{|=\s*default)")
UNIT_SYSTEM = {"immintrin.h", "arm_neon.h", "cstddef", "cstdint", "cstring"}

# First part of a third-party include -> the folders that may use it (and everything below them,
# unless listed apart in ALLOWED). Anything else in <> must be the standard library or the system.
THIRD_PARTY = {
    "onnx": ["graph", "interop", "tools", "tests"],
    "google": ["graph", "interop", "tools", "tests"],
    "yaml-cpp": ["yaml", "quantize/ranges", "calibrate", "quantize", "interop", "pipeline", "tools",
                 "tests"],
    "Eigen": ["runtime/onednn", "tests"],
    "unsupported": ["runtime/onednn", "tests"],
    "dnnl.hpp": ["runtime/onednn", "tests"],
    "dnnl.h": ["runtime/onednn", "tests"],
    "oneapi": ["runtime/onednn", "tests"],
    "opencv2": ["calibrate", "tools", "tests"],
    "openssl": ["graph"],
    "schema_generated.h": ["graph"],
    "jpeglib.h": ["calibrate"],
    "jerror.h": ["calibrate"],
    "zlib.h": ["calibrate", "tools", "tests"],
    "zip.h": ["calibrate", "tools", "tests"],
    "archive.h": ["calibrate"],
    "sndfile.h": ["calibrate"],
    "archive_entry.h": ["calibrate"],
    "mpi.h": ["calibrate", "tools", "tests"],
    "CLI": ["tools"],
    "nlohmann": ["interop", "pipeline", "tools", "tests"],
    "flatbuffers": ["graph"],
    "pugixml.hpp": ["graph", "interop"],
    "pybind11": ["python"],
    "rshift": ["rshift", "python", "examples", "tests"],  # the public headers: examples read them as installed
    "gtest": ["tests"],
    "gmock": ["tests"],
    "benchmark": ["tests"],
    "omp.h": ["runtime", "runtime/onednn", "calibrate", "tools", "tests"],
}
# C headers with "/" or ".h" that belong to the system or the compiler.
SYSTEM = {"sys", "linux", "asm"}
SYSTEM_H = re.compile(
    r"^(?:[a-z0-9]+intrin|arm_neon|arm_acle|cpuid|assert|dirent|dlfcn|errno|fcntl|float|getopt|glob|"
    r"inttypes|limits|malloc|math|poll|pthread|sched|signal|stdbool|stddef|stdint|stdio|stdlib|string|"
    r"sysexits|termios|time|unistd)\.h$")

# Folders in which what is built on a file never comes back to it: a header and its source file
# count as one. (Elsewhere an interface and what it makes may name each other.)
LOOP_FREE = {"base", "yaml", "target", "quantize", "quantize/numerics", "interop", "pipeline",
             "tools"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SUFFIXES = {".h", ".hpp", ".cc", ".cpp", ".c", ".inc"}


def folder_of(path, table):
    """The longest folder of `table` that holds the relative path; None when there is none."""
    best = None
    for folder in table:
        if path.startswith(folder + "/") and (best is None or len(folder) > len(best)):
            best = folder
    return best


def unit_violation(folder, own, target):
    allowed = KERNEL_UNITS[folder]
    if target in UNIT_SYSTEM if not own else (
            target in allowed or folder_of(target, KERNEL_UNITS) in allowed):
        return None
    return (f"{folder} is built for one instruction set and may not include {target}: only "
            f"{', '.join(allowed)} and {', '.join(sorted(UNIT_SYSTEM))}")


def code_free_violation(path, own, target):
    allowed = CODE_FREE[path]
    if not own or target in allowed:
        return None
    return f"{path} is for kernel units and may not include {target}: only {', '.join(allowed)}"


def own_violation(folder, target):
    home = folder_of(target, ALLOWED)
    if home is None:
        return f'"{target}" is in no folder that the dependency table knows'
    if home in ALLOWED[folder]:
        return None
    return f'{folder} may not include "{target}": {home} is not among {", ".join(ALLOWED[folder])}'


def system_violation(folder, target):
    first = target.split("/")[0]
    if first in THIRD_PARTY:
        if folder in THIRD_PARTY[first]:
            return None
        return f"{folder} may not include <{target}>: only {', '.join(THIRD_PARTY[first])} may"
    if re.fullmatch(r"[a-z_]+", target) or first in SYSTEM or SYSTEM_H.match(target):
        return None
    return f"<{target}> is neither a standard header nor in the dependency table"


def sources(root):
    for folder in sorted(root.iterdir()):
        if folder.is_dir() and not folder.name.startswith(".") and folder.name != "build":
            yield from sorted(f for f in folder.rglob("*") if f.suffix in SUFFIXES and f.is_file())


def check_includes(root):
    violations, count = [], 0
    for source in sources(root):
        path = source.relative_to(root).as_posix()
        folder = folder_of(path, ALLOWED)
        if folder is None:
            violations.append(f"{path}:1: is in no folder that the dependency table knows")
            continue
        for number, line in enumerate(source.read_text(errors="replace").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                code = "" if line.startswith("#") else line.split("//")[0]
                if path in CODE_FREE and FUNCTION_BODY.search(code):
                    violations.append(f"{path}:{number}: is for kernel units and may hold no code")
                continue
            count += 1
            quote, target = match.groups()
            # A quoted third-party header is one all the same.
            own = quote == '"' and target.split("/")[0] not in THIRD_PARTY
            if own and not (root / target).is_file():
                # Generated, or beside the includer: not from the root, so no reader can place it.
                wrong = f'"{target}" is not a path from the root of the source tree'
            else:
                wrong = own_violation(folder, target) if own else system_violation(folder, target)
            if not wrong and folder in KERNEL_UNITS:
                wrong = unit_violation(folder, own, target)
            if not wrong and path in CODE_FREE:
                wrong = code_free_violation(path, own, target)
            if wrong:
                violations.append(f"{path}:{number}: {wrong}")
    if count == 0:
        violations.append(f"{root}:1: not one #include found: is this the source directory?")
    return violations


def check_loops(root):
    included = {}
    for source in sources(root):
        path = source.relative_to(root)
        if folder_of(path.as_posix(), ALLOWED) in LOOP_FREE:
            found = map(INCLUDE.match, source.read_text(errors="replace").splitlines())
            names = {m.group(2).removesuffix(".h") for m in found if m and m.group(1) == '"'}
            included.setdefault(path.with_suffix("").as_posix(), set()).update(names)

    def way(start, end):
        """The shortest way of includes from start to end."""
        ways = [[start]]
        seen = {start}
        for so_far in ways:
            for name in sorted(included.get(so_far[-1], ())):
                if name == end:
                    return so_far + [end]
                if name in included and name not in seen:
                    seen.add(name)
                    ways.append(so_far + [name])
        return None

    violations = []
    for name in sorted(included):
        included[name].discard(name)
        loop = way(name, name)
        if loop and name == min(loop):
            violations.append(f"{name}.h:1: a loop of includes: {' -> '.join(loop)}")
    return violations


def check_readmes(root):
    """Every top-level folder, and every folder a library of its own lives in."""
    folders = [f for f in sorted(root.iterdir()) if f.is_dir() and f.name not in ("build", "cmake")]
    folders = [f for f in folders if not f.name.startswith((".", "_"))]
    folders += [root / f for f in sorted(ALLOWED)
                if "/" in f and (root / f / "CMakeLists.txt").exists()]
    missing = [f.relative_to(root) for f in folders
               if not (f / "README.md").is_file() or len((f / "README.md").read_text().split()) < 10]
    return [f"{f}/README.md:1: missing or empty: say what the folder owns" for f in missing]


# libclang_rt and libomp are not here: those builds are not what a device gets.
RUNTIME_LIBRARIES = re.compile(
    r"^(?:linux-vdso\.so|ld-linux[\w.-]*\.so|lib(?:c|m|stdc\+\+|gcc_s|gomp)\.so)\.\d+$")


def check_libraries(program, max_bytes=None):
    size = pathlib.Path(program).stat().st_size
    if max_bytes is not None and size > int(max_bytes):
        return [f"{program}: has {size} bytes, expected at most {max_bytes}"]
    listing = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    names = [pathlib.PurePath(line.split()[0]).name for line in listing.splitlines()]
    if not names:
        return [f"{program}: ldd lists nothing"]
    return [f"{program}: links {name}, which a runtime-only program must not"
            for name in names if not RUNTIME_LIBRARIES.match(name)]


def selftest():
    """Plants one violation of each kind in a small tree and expects exactly those."""
    files = {
        "base/a.h": "#include <vector>\n#include <sys/stat.h>\n#include <immintrin.h>\n",
        "base/b.h": '#include "graph/g.h"\n',
        "graph/g.h": '#include "base/a.h"\n#include <onnx/onnx.pb.h>\n',
        "runtime/r.cc": '#include "base/a.h"\n#include "runtime/r.h"\n#  include <Eigen/Core>\n',
        "runtime/onednn/f.cc": '#include <Eigen/Core>\n#include "runtime/r.h"\n',
        "runtime/r.h": '#include "runtime/onednn/f.h"\n#include "quantize/q.h"\n',
        "runtime/onednn/f.h": "",
        "quantize/numerics/n.h": '#include "graph/g.h"\n',
        "quantize/q.h": '#include "quantize/numerics/n.h"\n#include "q.h"\n',
        "isa/i.h": '#include "onnx/onnx.pb.h"\n',
        "runtime/kernels/kernels.h": "#include <vector>\n" '#include "isa/functions.h"\n'
                                     '#include "isa/attributes.h"\n',
        "isa/attributes.h": "inline int F() { return 1; }\n",
        "isa/functions.h": "struct A {\n  bool active() const {\n  }\n};\n",
        "runtime/kernels/table.h": "",
        "runtime/kernels/avx2/a.h": '#include "runtime/kernels/kernels.h"\n#include <cstring>\n',
        "runtime/kernels/avx2/b.h": "#include <algorithm>\n",
        "runtime/kernels/avxvnni/a.h": '#include "runtime/kernels/avx2/a.h"\n'
                                       '#include "runtime/kernels/table.h"\n',
        "runtime/kernels/generic/g.cc": '#include "runtime/kernels/table.h"\n#include <algorithm>\n',
        "runtime/steps/s.cc": '#include "runtime/kernels/table.h"\n'
                              '#include "runtime/kernels/avx2/a.h"\n',
        "stray/s.h": "",
        "graph/ops/o.h": "#include <boost/any.hpp>\n",
        "tools/one.h": "",
        "tools/one.cc": '#include "tools/one.h"\n#include "tools/two.h"\n',
        "tools/two.h": '#include "tools/one.h"\n',
    }
    expected = ["base/b.h:1", "graph/ops/o.h:1", "isa/functions.h:2", "isa/i.h:1",
                "quantize/numerics/n.h:1", "quantize/q.h:2", "runtime/kernels/avx2/b.h:1",
                "runtime/kernels/avxvnni/a.h:2", "runtime/kernels/kernels.h:3", "runtime/r.cc:3", "runtime/r.h:1", "runtime/r.h:2",
                "runtime/steps/s.cc:2", "stray/s.h:1"]
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        found = sorted(":".join(v.split(":")[:2]) for v in check_includes(root))
        (root / "base/README.md").write_text("what this folder owns, in ten words or a few more")
        (root / "graph/README.md").write_text("")
        readmes = [v.split(":")[0] for v in check_readmes(root)]
        loops = check_loops(root)
    problems = [] if found == expected else [f"selftest: expected {expected}, found {found}"]
    wanted = [f"{f}/README.md" for f in ("graph", "isa", "quantize", "runtime", "stray", "tools")]
    if readmes != wanted:
        problems.append(f"selftest: expected READMEs {wanted}, found {readmes}")
    if len(loops) != 1 or "tools/one -> tools/two -> tools/one" not in loops[0]:
        problems.append(f"selftest: expected the loop of tools/one and tools/two, found {loops}")
    if not check_libraries(sys.executable):
        problems.append("selftest: the Python interpreter's libraries passed as a runtime's")
    return problems


def main(arguments):
    checks = {"includes": lambda path: check_includes(pathlib.Path(path)),
              "loops": lambda path: check_loops(pathlib.Path(path)),
              "readmes": lambda path: check_readmes(pathlib.Path(path)),
              "libraries": check_libraries, "selftest": selftest}
    if not arguments or arguments[0] not in checks:
        sys.exit(__doc__)
    violations = checks[arguments[0]](*arguments[1:])
    print("\n".join(violations) if violations else f"{arguments[0]}: nothing wrong")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
