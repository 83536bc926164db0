// model_tool graph: a program or a model as a picture.
#include <algorithm>

#include "base/atomic_file.h"
#include "codegen/container/container.h"
#include "codegen/container/layout.h"
#include "graph/import.h"
#include "graph/passes/passes.h"
#include "interop/json_file.h"
#include "pipeline/graph_json.h"
#include "pipeline/model_integers.h"
#include "pipeline/usage.h"
#include "quantize/plan.h"
#include "tools/paths.h"
#include "tools/print.h"
#include "tools/tool_commands.h"

namespace rshift {

bool IsProgramFile(const std::vector<uint8_t>& bytes) {
  using file_layout::kMagic;
  return bytes.size() >= kMagic.size() && std::equal(kMagic.begin(), kMagic.end(), bytes.begin());
}

void RefuseModelOption(const std::string& file, const std::string& option) {
  RequireUsage(option.empty(), option, ": ", file,
               " is a program, in which that is settled; leave it out, or give a model");
}

namespace {

nlohmann::json GraphOf(const GraphArguments& a, const ImportOptions& import) {
  const std::vector<uint8_t> bytes = ReadFile(a.file);
  if (IsProgramFile(bytes)) {
    RefuseModelOption(a.file, a.model_option);
    return ProgramGraphJson(ReadContainer(bytes, a.file).image);
  }
  const Graph graph = RunPasses(TakeModelIntegers(ImportOnnx(a.file, import), a.profile).graph);
  return ModelGraphJson(graph, MakePlan(graph, QuantizeConfig{}, a.profile));
}

}  // namespace

int GraphCommand(const GraphArguments& a, const ImportOptions& import, bool json) {
  RequireUsage(json || !a.output.empty(), "-o/--output: where the page goes (or --json)");
  RunPaths paths{.inputs = {{"the file", a.file}, {"--report", a.report}}};
  if (!a.output.empty()) paths.outputs = {{"--output", a.output}};
  CheckPaths(paths);
  nlohmann::json graph = GraphOf(a, import);
  if (!a.report.empty()) AddFigures(ParseJson(ReadTextFile(a.report), a.report), a.report, graph);
  if (!a.output.empty()) WriteFileAtomic(a.output, GraphHtml(a.file, graph));
  if (json) {
    PrintJson(graph);
  } else {
    PrintText(Cat(a.output, ": ", Count(graph["nodes"].size(), "node"), ", ",
                  Count(graph["edges"].size(), "edge"), "\n"));
  }
  return 0;
}

}  // namespace rshift
