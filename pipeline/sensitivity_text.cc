// What a Sensitivity becomes: a configuration, text, JSON.
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "pipeline/plural.h"
#include "pipeline/sensitivity.h"

namespace rshift {
namespace {

constexpr size_t kListed = 10;

std::string DecibelsWithUnit(double db) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f dB", db);
  return text;
}

}  // namespace

std::string SensitivityConfig(const Sensitivity& sensitivity, const std::string& config_text) {
  YAML::Node root = config_text.empty() ? YAML::Node(YAML::NodeType::Map) : YAML::Load(config_text);
  if (!root["layers"]) root["layers"] = YAML::Node(YAML::NodeType::Map);
  for (const size_t i : sensitivity.kept) {
    for (const std::string& layer : sensitivity.ranking[i].layers) {
      YAML::Node entry = root["layers"][layer];
      entry["mode"] = "f32";
      entry.SetStyle(YAML::EmitterStyle::Flow);
    }
  }
  YAML::Emitter out;
  out << root;
  return Cat("# Made by model_deploy --sensitivity: with ", Count(sensitivity.kept.size(), "node"),
             " in F32 the outputs have ", DecibelsWithUnit(sensitivity.result.quality_db), ".\n",
             out.c_str(), "\n");
}

std::string SensitivityText(const Sensitivity& sensitivity, const std::string& path) {
  std::string out =
      Cat("sensitivity: ", Count(sensitivity.ranking.size(), "integer node"), " alone in INT8, ",
          Count(static_cast<size_t>(sensitivity.samples), "sample"), "; worst for the outputs:\n");
  for (size_t i = 0; i < std::min(kListed, sensitivity.ranking.size()); ++i) {
    const NodeSensitivity& node = sensitivity.ranking[i];
    out +=
        Cat("  ", DecibelsWithUnit(node.quality_db), "  ", node.command, " '", node.tensor, "'\n");
  }
  const SensitivityTrial& result = sensitivity.result;
  out += Cat(path, ": leaves ", Count(sensitivity.kept.size(), "node"), " in F32: outputs ",
             DecibelsWithUnit(result.quality_db), " on these samples (", Name(result.grade), ")");
  if (sensitivity.kept.empty()) return out + "; the program is good as it is\n";
  return out + "; deploy again with --config " + path + "\n";
}

}  // namespace rshift
