"""Applies CONTRIBUTING.md's steps for operators, a threshold method and a pass to a copy of the sources, builds, runs.

    contributing_test.py SOURCE SCRATCH [COMPILER LAUNCHER]

Each dummy is a list of edits. The files they touch must be those that the section of CONTRIBUTING.md names as
product files, and no more than the section's budget: a list that has become wrong fails here.
"""
import pathlib
import re
import subprocess
import sys

from tiny_model import chain_model, npy, read_npz


def after_last(pattern, addition):
    """Inserts `addition` behind the last line that matches."""
    def edit(text):
        lines = text.splitlines(keepends=True)
        last = max(i for i, line in enumerate(lines) if re.match(pattern, line))
        return "".join(lines[:last + 1]) + addition + "".join(lines[last + 1:])
    return edit


def behind(anchor, addition):
    """Inserts `addition` behind the one place that reads `anchor`."""
    def edit(text):
        if text.count(anchor) != 1:
            fail(f"'{anchor}' stands {text.count(anchor)} times in a file that a dummy edits, expected once")
        return text.replace(anchor, anchor + addition)
    return edit


def both(first, second):
    return lambda text: second(first(text))


def next_id(source, macro):
    text = (source / "isa/functions.def").read_text()
    return 1 + max(int(n) for n in re.findall(rf"^{macro}\((\d+),", text, re.M))


def unary_operator(source):
    number = next_id(source, "RSHIFT_UNARY")
    line = (f'RSHIFT_UNARY({number}, Shrink, Float, Attribute("lambd", 0.5f), Attribute("bias", 0.0f), '
            "x < -alpha ? x + beta : x > alpha ? x - beta : Real(0))\n")

    return "An operator of one element", 4, {
        "isa/functions.def": after_last(r"RSHIFT_UNARY\(", line),
        "isa/ISA.md": None,  # written by the test named in CONTRIBUTING
    }


def threshold_method(_):
    return "A threshold method", 3, {
        "calibrate/methods.def": after_last(r"RSHIFT_METHOD\(", 'RSHIFT_METHOD(Half, "half", "half of the range")\n'),
        "calibrate/half.cc": lambda _: """// Half of the observed range.
#include "calibrate/threshold_methods.h"

namespace rshift {

void DeriveHalf(const TensorBins&, const MethodOptions&, TensorRange& range) {
  range.threshold /= 2;
  range.low /= 2;
  range.high /= 2;
}

}  // namespace rshift
""",
    }


MIRROR = """struct Mirror {
  static constexpr Movement kMovement = Movement::kPermutes;
};
"""
IMPORT_MIRROR = """
void ImportMirror(OnnxNode& node) {
  node.Output(Mirror{}, {node.Input(0)}, node.TypeOf(0), node.ShapeOf(0));
}
"""
LOWER_MIRROR = """
void Lower(LoweringContext& context, const Node& node, const Mirror&) {
  const Shape& shape = context.InputValue(node, 0).shape;
  Slice slice{std::vector<int64_t>(shape.size(), 0), std::vector<int64_t>(shape.size(), 1)};
  slice.starts.back() = shape.back() - 1;
  slice.steps.back() = -1;
  Lower(context, node, slice);
}
"""
REMOVE_MIRROR_PAIRS = """// Mirror behind Mirror is nothing.
#include "graph/passes/passes.h"

namespace rshift {

Graph RemoveMirrorPairs(Graph graph) {
  const std::vector<NodeId> producers = graph.Producers();
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& outer = graph.nodes()[n];
    if (!std::holds_alternative<Mirror>(outer.op)) continue;
    const NodeId inner = producers[outer.inputs[0].index()];
    if (!inner.valid() || !std::holds_alternative<Mirror>(graph.node(inner).op)) continue;
    graph.ReplaceUses(outer.outputs[0], graph.node(inner).inputs[0]);
  }
  graph.RemoveUnused();
  return graph;
}

}  // namespace rshift
"""


def movement_operator(_):
    """The last dimension backwards."""
    name, nothing = '[](const Identity&) { return "Identity"; },', 'std::string Attributes(const Identity&) { return ""; }\n'
    declaration = "void Lower(LoweringContext& context, const Node& node, const {}& op);"
    return "An operator that moves data", 7, {
        "graph/ops/shape.h": behind("using isa::Gather;\n", MIRROR),
        "graph/op.h": behind("    Identity,", " Mirror,"),
        "graph/op.cc": behind(name, name.replace("Identity", "Mirror")),
        "graph/op_text.cc": behind(nothing, nothing.replace("Identity", "Mirror")),
        "graph/onnx/movement.cc": both(behind("namespace {\n", IMPORT_MIRROR),
                                       behind('{"Transpose", ImportTranspose},', '{"Mirror", ImportMirror},')),
        "codegen/lowering/lowering.h": behind(declaration.format("Identity"), "\n" + declaration.format("Mirror")),
        "codegen/lowering/shape.cc": behind("}  // namespace\n", LOWER_MIRROR),
    }


def graph_pass(_):
    def next_version(text):
        found = re.search(r"kPassListVersion = (\d+);", text)
        return text.replace(found[0], f"kPassListVersion = {int(found[1]) + 1};")

    return "A pass", 3, {
        "graph/passes/remove_mirror_pairs.cc": lambda _: REMOVE_MIRROR_PAIRS,
        "graph/passes/passes.h": both(next_version, behind("Graph RemoveRedundantTransposes(Graph graph);\n",
                                                           "Graph RemoveMirrorPairs(Graph graph);\n")),
        "graph/passes/run_passes.cc": behind("graph = FoldPad(std::move(graph));\n",
                                             "  graph = RemoveMirrorPairs(std::move(graph));\n"),
    }


DUMMIES = [unary_operator, threshold_method, movement_operator, graph_pass]
DOCS_TEST = "codegen_docs_test"
PROGRAMS = ["model_calibrate", "model_deploy", "model_runner"]
X = [-3.0625 + i * 0.25 for i in range(25)]  # no step of Shrink


def fail(*lines):
    sys.exit("contributing: " + "\n".join(lines))


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        fail(" ".join(map(str, command)), f"exit {done.returncode}", done.stdout[-4000:], done.stderr[-4000:])
    return done.stdout


def product_files(source, title):
    """The files that a section of CONTRIBUTING.md names behind "Product files:"."""
    text = (source / "CONTRIBUTING.md").read_text()
    section = re.search(rf"^#+ {re.escape(title)}\n(.*?)(?=^#|\Z)", text, re.M | re.S)
    if not section:
        fail(f"CONTRIBUTING.md has no section '{title}'")
    line = re.search(r"Product files: (.*?)\.\n", section[1], re.S)
    if not line:
        fail(f"CONTRIBUTING.md, {title}: no sentence that begins 'Product files:' and lists them")
    return re.findall(r"`([^`]+)`", line[1])


def matches(path, named):
    return re.fullmatch(re.escape(named).replace("<name>", "[a-z_0-9]+"), path) is not None


def check_list(source, title, budget, edits):
    named = product_files(source, title)
    if len(named) > budget:
        fail(f"CONTRIBUTING.md, {title}: {len(named)} product files, expected at most {budget}")
    for path in edits:
        if not any(matches(path, n) for n in named):
            fail(f"CONTRIBUTING.md, {title}: the dummy needs {path}, which the list does not name")
    for name in named:
        if not any(matches(path, name) for path in edits):
            fail(f"CONTRIBUTING.md, {title}: names {name}, which the dummy does not need")


def copy_sources(source, scratch, edited):
    """Writes what differs only, so that the build compiles only that; removes what is gone."""
    listed = run("git", "-C", source, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    wanted = {p: (source / p).read_bytes() for p in listed.split("\0") if p and (source / p).is_file()}
    for path, text in edited.items():
        wanted[path] = text.encode()
    for path, data in wanted.items():
        target = scratch / path
        if not target.is_file() or target.read_bytes() != data:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
    for target in scratch.rglob("*"):
        if target.is_file() and target.relative_to(scratch).as_posix() not in wanted:
            target.unlink()


def build(scratch, binary, launcher):
    options = ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0", "-DCMAKE_UNITY_BUILD=ON"]
    if launcher:
        options.append(f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}")
    run("cmake", "-S", scratch, "-B", binary, "-G", "Ninja", *options)
    run("ninja", "-C", binary, *PROGRAMS, DOCS_TEST)
    run(binary / "bin" / DOCS_TEST, "--gtest_filter=Docs.Isa*",
        env={"RSHIFT_UPDATE_DOCS": "1", "RSHIFT_SOURCE_DIR": str(scratch), "PATH": "/usr/bin:/bin"})


def shrink(x):
    return x + 0.0 if x < -0.5 else x - 0.0 if x > 0.5 else 0.0


def check_runs(source, binary, folder):
    """y = Mirror(Mirror(Mirror(Shrink(x)))), of which the pass leaves one Mirror."""
    folder.mkdir(exist_ok=True)
    model, data, table = folder / "shrink.onnx", folder / "x.npy", folder / "t.yaml"
    model.write_bytes(chain_model(["Shrink", "Mirror", "Mirror", "Mirror"], len(X)))
    data.write_bytes(npy(X))
    calibrate, deploy, runner = (binary / "bin" / p for p in PROGRAMS)
    run(calibrate, model, "--dataset", data, "--method", "half", "-o", table)
    if not re.search(r"method: half", table.read_text()):
        fail(f"{table}: the method is not 'half'", table.read_text())
    version = re.search(r"kPassListVersion = (\d+);", (source / "graph/passes/passes.h").read_text())[1]
    if not re.search(rf"pass_list_version: {version}$", table.read_text(), re.M):
        fail(f"{table}: the version of the passes is not {version}", table.read_text())
    threshold = max(abs(x) for x in X) / 2  # so values beyond it are cut off
    for mode in ("f32", "symmetric"):
        program, output = folder / f"{mode}.rshift", folder / f"{mode}.npz"
        graphs = {stage: folder / f"{mode}_{stage}.txt" for stage in ("imported", "passes")}
        dumps = [text for stage, path in graphs.items() for text in ("--dump-graph", f"{stage}={path}")]
        arguments = [] if mode == "f32" else ["--calibration", table]
        run(deploy, model, "--mode", mode, *arguments, "-o", program, *dumps)
        counts = [len(re.findall(r"\bMirror\b", path.read_text())) for path in graphs.values()]
        if counts != [3, 1]:
            fail(f"{mode}: {counts[0]} Mirrors are imported, {counts[1]} left by the passes, expected 3 and 1")
        run(runner, program, "--input", data, "--output", output)
        found = read_npz(output, "y")
        for x, y in zip(reversed(X), found, strict=True):
            expected = shrink(x) if mode == "f32" else shrink(max(-threshold, min(x, threshold)))
            if abs(y - expected) > (1e-6 if mode == "f32" else 2.5 * threshold / 128):
                fail(f"{mode}: Mirror(Shrink({x})) is {y}, expected {expected}")


def main(source, scratch, launcher=""):
    source, scratch = pathlib.Path(source).resolve(), pathlib.Path(scratch).resolve()
    edited = {}
    for dummy in DUMMIES:
        title, budget, edits = dummy(source)
        check_list(source, title, budget, edits)
        for path, edit in edits.items():
            if edit is not None:
                old = edited.get(path) or ((source / path).read_text() if (source / path).is_file() else "")
                edited[path] = edit(old)
    # Kernels that are optimised less are compiled in a third of the time.
    flags = "cmake/Rshift.cmake"
    edited[flags] = (source / flags).read_text().replace("OPTIMIZATION -O3", "OPTIMIZATION -O1")
    copy_sources(source, scratch / "source", edited)
    build(scratch / "source", scratch / "build", launcher)
    check_runs(scratch / "source", scratch / "build", scratch / "run")
    print("contributing: the lists are true:", ", ".join(dummy.__name__ for dummy in DUMMIES))


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
