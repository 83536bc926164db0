// model_tool scales: thresholds, scales and zero points from one tool's format into another's.
#include <algorithm>
#include <optional>

#include "base/atomic_file.h"
#include "interop/formats.h"
#include "interop/json_file.h"
#include "interop/layer_names.h"
#include "pipeline/usage.h"
#include "tools/paths.h"
#include "tools/print.h"
#include "tools/tool_commands.h"
#include "tools/tool_main.h"

namespace rshift {
namespace {

Json EntryJson(const ScaleEntry& entry) {
  Json json = {{"name", entry.name}, {"kind", Name(entry.subject)}, {"bits", entry.bits}};
  if (entry.is_float) json["float"] = true;
  if (entry.threshold) json["threshold"] = *entry.threshold;
  if (!entry.low.empty()) json["low"] = entry.low;
  if (!entry.high.empty()) json["high"] = entry.high;
  if (!entry.scales.empty()) json["scale"] = entry.scales;
  if (!entry.zero_points.empty()) json["zero_point"] = entry.zero_points;
  if (entry.is_signed) json["signed"] = *entry.is_signed;
  if (entry.axis >= 0) json["axis"] = entry.axis;
  return json;
}

int Show(const ScaleSet& set, bool json) {
  if (!json) {
    Losses none;
    PrintText(FindScaleFormat("rshift-scales").write(set, {}, &none));
    return 0;
  }
  Json entries = Json::array();
  for (const ScaleEntry& entry : set.entries) entries.push_back(EntryJson(entry));
  PrintJson({{"format", set.format}, {"entries", entries}, {"precisions", set.precisions}});
  return 0;
}

// ncnn names layers, TPU-MLIR tensors with their operator, all others tensors: the model tells one
// from the other.
ScaleSet Renamed(const ScaleSet& set, const std::string& to, const std::string& model,
                 Losses* losses) {
  if (model.empty()) return set;
  const Graph graph = ImportOnnx(model);
  const ScaleSet by_tensor = WithOnnxNames(ByTensor(set, graph, losses), graph);
  if (to == "ncnn") return ByLayer(by_tensor, graph, losses);
  if (to == "tpu-mlir" || to == "tpu-mlir-qtable")
    return WithOperatorNames(by_tensor, ReadModelNamesOf(model));
  ScaleSet renamed = by_tensor;
  renamed.names_end_in_operator = false;
  return renamed;
}

// What the written text says; throws kUnsupported where its reader would not take it.
ScaleSet Written(const ScaleFormat& format, const std::string& text, const std::string& output) {
  try {
    ScaleSet written = format.read(text, output);
    written.where = output;
    CheckScales(written);
    return written;
  } catch (const Error& error) {
    Fail(ErrorCode::kUnsupported, "cannot be written as ", format.name, ": ", error.what());
  }
}

void CheckTaken(const ScaleFormat& format, const ScalesArguments& a) {
  RequireUsage(!a.symmetric || format.takes.symmetric,
               "scales convert: --symmetric means nothing "
               "to ",
               format.name, "; it is for AIMET's encodings");
  RequireUsage(a.header.empty() || format.takes.header,
               "scales convert: --header means nothing to ", format.name,
               "; it is for TensorRT's caches");
}

void CheckArguments(const ScalesArguments& a) {
  RequireUsage((a.action == "convert") == !a.output.empty(), "scales ", a.action,
               a.output.empty() ? ": the file to write is missing: scales convert A B"
                                : ": shows one file; leave the other out");
  const bool writes = a.action == "convert";
  RequireUsage(writes || (a.to.empty() && a.model.empty() && !a.symmetric && a.header.empty()),
               "scales show: --to, --model, --symmetric and --header are for convert");
  CheckPaths({.inputs = {{"the scales", a.file}, {"--model", a.model}},
              .outputs = {{"the output", a.output}}});
}

}  // namespace

int ScalesCommand(const ScalesArguments& a, bool json) {
  CheckArguments(a);
  std::optional<ScaleFormat> format;
  if (a.action == "convert")
    format = a.to.empty() ? ScaleFormatForPath(a.output) : FindScaleFormat(a.to);
  RequireUsage(!format || format->write != nullptr, "scales convert: ", format ? format->name : "",
               " is read only; model_deploy --emit-qdq writes ", "models");
  if (format) CheckTaken(*format, a);
  const ScaleSet set = ReadScaleFile(a.file, a.from);
  if (!format) return Show(set, json);
  Losses losses;
  const ScaleSet renamed = Renamed(set, format->name, a.model, &losses);
  const std::string text = format->write(renamed, {a.symmetric, a.header}, &losses);
  const ScaleSet written = Written(*format, text, a.output);
  RSHIFT_REQUIRE(!written.entries.empty() || !written.precisions.empty(), ErrorCode::kUnsupported,
                 a.file, ": nothing of it can be written as ", format->name, ": ",
                 losses.empty() ? "it is empty" : LossLines(losses).front());
  WriteFileAtomic(a.output, text);
  const size_t count = written.entries.size() + written.precisions.size();
  for (const std::string& line : LossLines(losses)) PrintNote(line);
  if (json)
    PrintJson({{"from", set.format}, {"to", format->name}, {"entries", count}, {"notes", losses}});
  else
    PrintText(Cat(a.output, ": ", format->name, " from ", set.format, ", ", count,
                  count == 1 ? " entry" : " entries", "\n"));
  return 0;
}

std::string ScaleFormatList() {
  std::string text;
  for (const ScaleFormat& format : ScaleFormats()) {
    std::string line = Cat("  ", format.name);
    line.resize(std::max<size_t>(line.size() + 1, 20), ' ');
    text += Cat(line, format.what, format.write == nullptr ? " (read only)" : "", "; ",
                format.names, "\n");
  }
  return text;
}

}  // namespace rshift
