#include "pipeline/program_interface.h"

#include <set>
#include <sstream>

#include "base/error.h"
#include "preprocess/recorded.h"

namespace rshift {
namespace {

PixelRule RuleOf(const InputPreprocess& entry, const Shape& shape) {
  const bool last = entry.layout == InputPreprocess::PixelLayout::kNhwc;
  const auto rank = static_cast<int64_t>(shape.size());
  // [N, C, H, W] or [N, H, W, C]; without a batch dimension one less.
  return {entry.mean, entry.scale, last ? rank - 1 : rank == 4 ? 1 : 0};
}

std::string Get(const std::map<std::string, std::string>& meta, const char* key) {
  const auto found = meta.find(key);
  return found == meta.end() ? "" : found->second;
}

void AddTypes(const ElementTypes& types, const std::string& key,
              std::map<std::string, std::string>* meta) {
  if (types.all != DType::kF32) (*meta)[key] = Name(types.all);
  std::string lines;
  for (const auto& [name, type] : types.named)
    lines += Cat(lines.empty() ? "" : "\n", name, "=", Name(type));
  if (!lines.empty()) (*meta)[key + "s"] = lines;
}

// NAME=TYPE, a line each; names may hold '='.
std::map<std::string, std::string> NamedTypes(const std::map<std::string, std::string>& meta,
                                              const char* key) {
  std::map<std::string, std::string> types;
  std::istringstream lines(Get(meta, key));
  for (std::string line; std::getline(lines, line);) {
    const size_t equals = line.rfind('=');
    if (equals != std::string::npos) types[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return types;
}

std::set<std::string> PixelInputs(const std::map<std::string, std::string>& meta) {
  std::set<std::string> pixels;
  std::istringstream lines(Get(meta, "pixel_inputs"));
  for (std::string line; std::getline(lines, line);) pixels.insert(line);
  return pixels;
}

}  // namespace

InterfaceOptions ReadInterface(const ElementTypes& input, const ElementTypes& output,
                               const std::string& preprocess_text, const Graph& graph) {
  InterfaceOptions options;
  options.input = input;
  options.output = output;
  if (input.AllF32() || preprocess_text.empty()) return options;
  const Preprocess preprocess = ReadPreprocess(preprocess_text, "preprocessing");
  for (ValueId id : graph.inputs) {
    const Value& value = graph.value(id);
    const DType type = input.Of(value.name);
    if (value.dtype != DType::kF32 || (type != DType::kU8 && type != DType::kS8)) continue;
    for (const InputPreprocess& entry : preprocess.inputs) {
      const bool only = entry.name.empty() && graph.inputs.size() == 1;
      if (!entry.audio && (only || entry.name == value.name))
        options.pixels[value.name] = RuleOf(entry, value.shape);
    }
  }
  return options;
}

void AddInterfaceMeta(const InterfaceOptions& options, std::map<std::string, std::string>* meta) {
  AddTypes(options.output, "output_type", meta);
  AddTypes(options.input, "input_type", meta);
  std::string names;
  for (const auto& [name, rule] : options.pixels) names += (names.empty() ? "" : "\n") + name;
  if (!names.empty()) (*meta)["pixel_inputs"] = names;
}

bool TakesOwnIntegers(const std::map<std::string, std::string>& meta, const std::string& input,
                      DType dtype) {
  const std::map<std::string, std::string> types = NamedTypes(meta, "input_types");
  const auto own = types.find(input);
  return (own == types.end() ? Get(meta, "input_type") : own->second) == Name(dtype) &&
         !PixelInputs(meta).contains(input);
}

void KeepPixels(const std::map<std::string, std::string>& meta, Preprocess* preprocess) {
  const std::set<std::string> pixels = PixelInputs(meta);
  const std::map<std::string, std::string> types = NamedTypes(meta, "input_types");
  for (InputPreprocess& entry : preprocess->inputs) {
    const bool only = entry.name.empty() && pixels.size() == 1;
    if (!only && !pixels.contains(entry.name)) continue;
    const auto own = types.find(entry.name.empty() ? *pixels.begin() : entry.name);
    const std::string type = own == types.end() ? Get(meta, "input_type") : own->second;
    entry.mean = {type == "s8" ? 128.0f : 0.0f};
    entry.scale = {1.0f};
  }
}

void AddRecordedPixels(const Graph& graph, std::map<std::string, std::string>* meta) {
  const std::string text = Get(*meta, "preprocess");
  if (text.empty()) return;
  Preprocess preprocess = ReadPreprocess(text, "preprocessing");
  KeepPixels(*meta, &preprocess);
  std::map<size_t, InputPreprocess> recipes;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    for (const InputPreprocess& entry : preprocess.inputs) {
      const bool only = entry.name.empty() && graph.inputs.size() == 1;
      if (!entry.audio && (only || entry.name == graph.value(graph.inputs[i]).name))
        recipes[i] = entry;
    }
  }
  if (!recipes.empty()) (*meta)[kRecordedKey] = WriteRecorded(recipes);
}

}  // namespace rshift
