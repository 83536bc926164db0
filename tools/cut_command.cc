// model_tool cut: a part of an ONNX model as a model of its own.
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "graph/cut.h"
#include "pipeline/plural.h"
#include "tools/paths.h"
#include "tools/print.h"
#include "tools/tool_commands.h"
#include "tools/tool_main.h"

namespace rshift {
namespace {

nlohmann::json EndsJson(const std::vector<CutEnd>& ends) {
  nlohmann::json list = nlohmann::json::array();
  for (const CutEnd& end : ends) list.push_back({{"name", end.name}, {"shape", end.shape}});
  return list;
}

std::string EndsText(const char* what, const std::vector<CutEnd>& ends) {
  std::string text;
  for (const CutEnd& end : ends)
    text += Cat("  ", what, " ", end.name, " ", end.shape.empty() ? "" : ToString(end.shape), "\n");
  return text;
}

}  // namespace

void AddCutOptions(CLI::App& command, ModelArguments& model, CutArguments& a) {
  const auto add_list = [&](const char* option, std::vector<std::string>& names, const char* what) {
    command.add_option(option, names, what)->expected(1)->take_all();
  };
  command.add_option("model", model.path, "an ONNX file")->required();
  add_list("--input-shape", model.input_shapes,
           "bind symbolic dimensions: NAME:1x3x224x224 (repeatable)");
  add_list("--inputs", a.inputs, "a tensor that is an input of the part (repeatable)");
  add_list("--outputs", a.outputs,
           "a tensor that is an output of the part (repeatable; default: what the last "
           "convolutions, products and recurrent layers that can be deployed lead to)");
  command.add_option("-o,--output", a.output, "the ONNX file to write")->required();
}

int CutCommand(const CutArguments& a, const ModelArguments& model, bool json) {
  CheckPaths({.inputs = {{"the model", model.path}}, .outputs = {{"--output", a.output}}});
  const ModelPart part = CutModel(model.path, model.Import(), {a.inputs, a.outputs});
  WriteFileAtomic(a.output, part.bytes);
  if (part.external_data)
    PrintNote(Cat(a.output, ": its weights are in the files beside ", model.path,
                  ": keep it in the same folder"));
  if (json) {
    PrintJson({{"file", a.output},
               {"nodes", part.nodes},
               {"left_nodes", part.left},
               {"inputs", EndsJson(part.inputs)},
               {"outputs", EndsJson(part.outputs)}});
    return 0;
  }
  PrintText(Cat(a.output, ": ", Count(static_cast<size_t>(part.nodes), "node"),
                "; left out: ", Count(static_cast<size_t>(part.left), "node"), "\n",
                EndsText("input", part.inputs), EndsText("output", part.outputs)));
  return 0;
}

}  // namespace rshift
