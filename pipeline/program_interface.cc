#include "pipeline/program_interface.h"

#include <set>
#include <sstream>

#include "base/error.h"

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

}  // namespace

InterfaceOptions ReadInterface(DType input_type, DType output_type,
                               const std::string& preprocess_text, const Graph& graph) {
  InterfaceOptions options;
  options.input = input_type;
  options.output = output_type;
  if (options.input == DType::kF32 || preprocess_text.empty()) return options;
  const Preprocess preprocess = ReadPreprocess(preprocess_text, "preprocessing");
  for (ValueId id : graph.inputs) {
    const Value& value = graph.value(id);
    if (value.dtype != DType::kF32) continue;
    for (const InputPreprocess& entry : preprocess.inputs) {
      const bool only = entry.name.empty() && graph.inputs.size() == 1;
      if (only || entry.name == value.name) options.pixels[value.name] = RuleOf(entry, value.shape);
    }
  }
  return options;
}

void AddInterfaceMeta(const InterfaceOptions& options, std::map<std::string, std::string>* meta) {
  if (options.output != DType::kF32) (*meta)["output_type"] = Name(options.output);
  if (options.input == DType::kF32) return;
  (*meta)["input_type"] = Name(options.input);
  std::string names;
  for (const auto& [name, rule] : options.pixels) names += (names.empty() ? "" : "\n") + name;
  if (!names.empty()) (*meta)["pixel_inputs"] = names;
}

void KeepPixels(const std::map<std::string, std::string>& meta, Preprocess* preprocess) {
  std::set<std::string> pixels;
  std::istringstream lines(Get(meta, "pixel_inputs"));
  for (std::string line; std::getline(lines, line);) pixels.insert(line);
  const float mean = Get(meta, "input_type") == "s8" ? 128.0f : 0.0f;
  for (InputPreprocess& entry : preprocess->inputs) {
    const bool only = entry.name.empty() && pixels.size() == 1;
    if (!only && !pixels.contains(entry.name)) continue;
    entry.mean = {mean};
    entry.scale = {1.0f};
  }
}

}  // namespace rshift
