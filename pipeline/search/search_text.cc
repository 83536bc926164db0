// What a search becomes: a configuration, a quantization table, text.
#include <yaml-cpp/yaml.h>

#include <cstdio>

#include "base/error.h"
#include "interop/formats.h"
#include "interop/layer_names.h"
#include "pipeline/plural.h"
#include "pipeline/search/search.h"

namespace rshift {
namespace {

std::string WithDigits(double value, int digits, const char* unit) {
  char text[48];
  std::snprintf(text, sizeof text, "%.*f%s", digits, value, unit);
  return text;
}

std::string FiguresText(const ScoreFigures& figures) {
  std::string text =
      Cat(WithDigits(figures.decibels, 1, " dB"), ", cosine ", WithDigits(figures.cosine, 5, ""));
  if (figures.classes) text += ", same class " + WithDigits(figures.agree_percent, 1, " %");
  if (figures.labelled) {
    text += Cat(", top-1 ", WithDigits(figures.top1_percent, 1, " %"), " (float ",
                WithDigits(figures.float_top1_percent, 1, " %"), ")");
  }
  return text;
}

// Of all samples: ", recall ..."; "" where there are none.
std::string BoxesOf(const SearchPoint& point, bool divided) {
  BoxAgreement boxes;
  if (point.judging.boxes) boxes.Add(*point.judging.boxes);
  if (divided && point.making.boxes) boxes.Add(*point.making.boxes);
  if (boxes.wanted + boxes.found == 0) return "";
  return Cat(", ", BoxesText(boxes), divided ? " on all samples" : "");
}

void SetKey(YAML::Node root, const std::string& layer, const char* key, const std::string& value) {
  YAML::Node entry = root["layers"][layer];
  entry[key] = value;
  entry.SetStyle(YAML::EmitterStyle::Flow);
}

}  // namespace

std::string SearchConfigText(const SearchReport& report, const std::string& config_text) {
  YAML::Node root = config_text.empty() ? YAML::Node(YAML::NodeType::Map) : YAML::Load(config_text);
  if (!root["layers"]) root["layers"] = YAML::Node(YAML::NodeType::Map);
  for (const SearchGroup& group : report.groups) {
    for (const std::string& layer : group.layers_16) SetKey(root, layer, "activation_bits", "16");
    for (const std::string& layer : group.layers_float) SetKey(root, layer, "mode", "f32");
  }
  YAML::Emitter out;
  out << root;
  return Cat("# Made by model_deploy --auto. The same program without the search: this file as ",
             "--config", report.command.empty() ? std::string() : ", and " + report.command, ".\n",
             out.c_str(), "\n");
}

std::string SearchQtable(const SearchReport& report, const ModelNames& names) {
  ScaleSet set;
  for (const SearchGroup& group : report.groups) {
    if (group.bits == 8) continue;
    for (const std::string& tensor : group.tensors)
      if (const std::string own = ModelName(tensor); names.operators.contains(own))
        set.precisions[own] = group.bits == 16 ? "F16" : "F32";
  }
  Losses losses;
  return FindScaleFormat("tpu-mlir-qtable").write(WithOperatorNames(set, names), {}, &losses);
}

std::string SearchText(const SearchReport& report) {
  const SearchPoint &first = report.points[report.first], &chosen = report.points[report.chosen];
  std::string out = Cat("auto: ", Count(report.groups.size(), "group"), " of operators, ",
                        Count(static_cast<size_t>(report.evaluations), "evaluation"), " on ",
                        Count(static_cast<size_t>(report.samples), "sample"),
                        " (each group alone: ", report.one_by_one, "), ", report.measuring_runs,
                        " runs that measure weights and biases\n");
  const std::string on = report.divided
                             ? Cat(" on ", Count(static_cast<size_t>(report.judged), "sample"),
                                   " that it was not made with")
                             : " on the samples it was made with: there are too few to divide";
  out += Cat("auto: 8 bits ", FiguresText(first.judging), BoxesOf(first, report.divided),
             "; chosen ", FiguresText(chosen.judging), on, BoxesOf(chosen, report.divided), "\n");
  out += Cat("auto: ", chosen.groups_16, " of ", report.groups.size(), " groups in 16 bits, ",
             chosen.groups_float, " in F32; predicted time ", WithDigits(chosen.time, 2, ""),
             " of that of 8 bits; ",
             report.command.empty() ? std::string("no other options") : report.command, "\n");
  if (report.reached) return out;
  return out + Cat("auto: what was asked for is not reached",
                   report.stopped ? " within the evaluations allowed" : "", "\n");
}

}  // namespace rshift
