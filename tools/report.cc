#include "tools/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "tools/print.h"
#include "tools/tensor_view.h"

namespace rshift {
namespace {

constexpr size_t kWorstLayers = 10;
constexpr size_t kNamedChannels = 3;  // of a repaired operator

template <typename... Args>
std::string Format(const char* format, Args... args) {
  char line[1024];
  std::snprintf(line, sizeof line, format, args...);
  return line;
}

// JSON has no NaN; a tensor with one has null figures.
nlohmann::json Number(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

nlohmann::json RangeJson(const ValueRange& r) {
  return {{"signed", r.is_signed}, {"threshold", r.threshold}, {"low", r.low}, {"high", r.high}};
}

nlohmann::json NodeJson(const ReportNode& n) {
  nlohmann::json json = {{"node", n.node},
                         {"op", n.op},
                         {"tensor", n.tensor},
                         {"type", Name(n.dtype)},
                         {"shape", n.shape}};
  if (n.quant) json.update({{"scale", n.quant->scale}, {"zero_point", n.quant->zero_point}});
  return json;
}

// The bins between the first and the last that hold something.
nlohmann::json HistogramJson(const ValueHistogram& h) {
  constexpr int kMiddle = ValueHistogram::kBins / 2;
  int first = 0, end = ValueHistogram::kBins;
  while (first < end && h.counts()[first] == 0) ++first;
  while (end > first && h.counts()[end - 1] == 0) --end;
  return {{"bin_width", h.bin_width()},
          {"low", (first - kMiddle) * h.bin_width()},
          {"counts", std::vector<int64_t>(h.counts().begin() + first, h.counts().begin() + end)},
          {"min", h.min()},
          {"max", h.max()},
          {"non_finite", h.non_finite()}};
}

// Median and worst decile of the channels.
std::string Channels(const ChannelSqnr& c) {
  return Format("%6.1f /%6.1f", c.median_db, c.worst_decile_db);
}

std::string LayerLines(const DeployReport& report) {
  std::string out =
      Count(report.layers.size(), "tensor") +
      " compared; worst by what each loses alone, given the float inputs (dB; channels: median / "
      "worst decile):\n";
  out += Format("  %-40s %-12s | %6s %15s | %11s %6s %15s %9s\n", "tensor", "command", "alone",
                "channels", "accumulated", "cosine", "channels", "saturated");
  const std::vector<LayerResult> worst = WeakestAlone(report.layers);
  for (size_t i = 0; i < std::min(kWorstLayers, worst.size()); ++i) {
    const LayerResult& l = worst[i];
    out += Format("  %-40s %-12s | %6.1f %15s | %11.1f %6.3f %15s %9lld\n", l.tensor.c_str(),
                  l.command.c_str(), l.alone.sqnr_db, Channels(l.alone_channels).c_str(),
                  l.similarity.sqnr_db, l.similarity.cosine, Channels(l.channels).c_str(),
                  static_cast<long long>(l.saturated));
  }
  return out;
}

// Figures of the channels that are not all zero.
nlohmann::json ChannelJson(const ChannelSqnr& c) {
  return {{"count", c.channels},
          {"median_db", Number(c.median_db)},
          {"worst_decile_db", Number(c.worst_decile_db)},
          {"worst_db", Number(c.worst_db)},
          {"worst_channel", c.worst_channel}};
}

// One line: what was proved, and the tightest place.
std::string ProofLine(const std::vector<LayerProof>& proofs) {
  if (proofs.empty()) return "";
  int64_t channels = 0, flushed = 0;
  const LayerProof* tightest = &proofs.front();
  for (const LayerProof& proof : proofs) {
    channels += proof.channels;
    flushed += proof.flushed;
    if (proof.limit <= INT32_MAX && proof.headroom_bits() < tightest->headroom_bits())
      tightest = &proof;
  }
  return Cat("proved: ", Count(proofs.size(), "operator"), ", ", Count(channels, "channel"),
             ": accumulators, biases, multipliers and shifts in range; least headroom ",
             Format("%.1f", tightest->headroom_bits()), " bits (", tightest->op, " '",
             tightest->node, "'), ", Count(flushed, "channel"), " constant\n");
}

// One line for each operator; --report-json has every channel.
std::string RepairLines(const std::vector<QuantizeReport::Repair>& repairs) {
  std::string out;
  for (size_t begin = 0, end; begin < repairs.size(); begin = end) {
    const auto changed = [&](size_t i) {  // else the channel was flushed to zero
      return repairs[i].scale_before != repairs[i].scale_after;
    };
    end = begin + 1;
    while (end < repairs.size() && repairs[end].node == repairs[begin].node &&
           changed(end) == changed(begin))
      ++end;
    std::string channels;
    for (size_t i = begin; i < std::min(end, begin + kNamedChannels); ++i)
      channels += Cat(i == begin ? "" : ", ", repairs[i].channel);
    out += Cat(changed(begin) ? "repaired " : "flushed ", repairs[begin].node, ": ",
               Count(end - begin, "channel"), " (", channels,
               end - begin > kNamedChannels ? ", ..." : "", "): ", repairs[begin].reason);
    if (changed(begin)) {
      out +=
          Cat(", weight scale ", repairs[begin].scale_before, " -> ", repairs[begin].scale_after);
    }
    out += "\n";
  }
  return out;
}

nlohmann::json ProofJson(const LayerProof& p) {
  return {{"node", p.node},
          {"op", p.op},
          {"rounding", Name(p.rounding)},
          {"channels", p.channels},
          {"accumulator_bound", p.accumulator},
          {"accumulator_limit", p.limit},
          {"headroom_bits", p.headroom_bits()},
          {"largest_bias", p.largest_bias},
          {"multiplier", {p.min_multiplier, p.max_multiplier}},
          {"rshift", {p.min_rshift, p.max_rshift}},
          {"constant_channels", p.flushed},
          {"exact_in_float", p.exact_in_float}};
}

nlohmann::json LayerJson(const LayerResult& l, const Tolerance& tolerance) {
  return {{"tensor", l.tensor},
          {"command", l.command},
          {"integer", l.integer},
          {"moves", l.moves},
          {"type", Name(l.dtype)},
          {"scale", l.scale},
          {"zero_point", l.zero_point},
          {"cosine", Number(l.similarity.cosine)},
          {"euclid", Number(l.similarity.euclid)},
          {"sqnr_db", Number(l.similarity.sqnr_db)},
          {"max_abs", Number(l.similarity.max_abs)},
          {"elements", l.similarity.count},
          {"saturated", l.saturated},
          {"within_tolerance", tolerance.Accepts(l.similarity)},
          {"values", HistogramJson(l.values)},
          {"channels", ChannelJson(l.channels)},
          {"alone",
           {{"cosine", Number(l.alone.cosine)},
            {"sqnr_db", Number(l.alone.sqnr_db)},
            {"max_abs", Number(l.alone.max_abs)},
            {"channels", ChannelJson(l.alone_channels)}}}};
}

}  // namespace

void CountCommands(const ProgramImage& image, DeployReport& report) {
  for (const Command& command : image.commands) {
    switch (FindOp(command.opcode)->op_class) {
      case OpClass::kInteger:
        ++report.integer_commands;
        break;
      case OpClass::kMove:
        ++report.move_commands;
        break;
      case OpClass::kFloat:
      case OpClass::kFloatLibrary:
        ++report.float_commands;
        break;
    }
  }
}

std::string TextReport(const DeployReport& report) {
  std::string out = Format(
      "%s: %s, %s (%d integer, %d data movement, %d F32), %s, %llu bytes, arena %llu bytes\n",
      report.output.c_str(), report.mode.c_str(),
      Count(report.integer_commands + report.move_commands + report.float_commands, "command")
          .c_str(),
      report.integer_commands, report.move_commands, report.float_commands,
      Count(report.transposes, "transpose").c_str(),
      static_cast<unsigned long long>(report.file_bytes),
      static_cast<unsigned long long>(report.arena_bytes));
  if (report.mode == "f32") return out;
  if (report.quantize.type_sources.empty()) {
    out += Format("ranges changed by Forward/BackwardCalibration: %zu\n",
                  report.quantize.range_changes.size());
  } else {
    out += "types taken from the model: " + Count(report.quantize.type_sources.size(), "tensor") +
           "\n";
  }
  if (!report.preprocess.empty()) {
    out += "preprocess: " + report.preprocess +
           "; whether that is what the model was trained with, model_calibrate --check tells\n";
  }
  out += ProofLine(report.proofs);
  out += RepairLines(report.quantize.repairs);
  if (report.quantize.float_nodes.empty()) out += "F32 nodes: none\n";
  for (const auto& node : report.quantize.float_nodes) {
    out += Cat("F32 node: ", node.op, " '", node.node, "': ", node.reason, "\n");
  }
  for (const auto& note : report.quantize.notes) {
    out += Cat("note: ", note.op, " '", note.node, "': ", note.text, "\n");
  }
  if (report.test_input) out += LayerLines(report);
  if (report.checked) out += CheckLine(report.verdict);
  return out;
}

nlohmann::json JsonReport(const DeployReport& report) {
  nlohmann::json json = {{"model", report.model},
                         {"output", report.output},
                         {"mode", report.mode},
                         {"profile", report.profile},
                         {"target", report.target},
                         {"model_sha256", report.model_sha256},
                         {"table", report.table},
                         {"table_sha256", report.table_sha256},
                         {"calibration_samples", report.calibration_samples},
                         {"compared_samples", report.compared_samples},
                         {"file_bytes", report.file_bytes},
                         {"arena_bytes", report.arena_bytes},
                         {"transposes", report.transposes},
                         {"commands",
                          {{"integer", report.integer_commands},
                           {"move", report.move_commands},
                           {"f32", report.float_commands}}}};
  for (const char* list : {"nodes", "float_nodes", "notes", "repairs", "range_changes",
                           "type_sources", "layers", "proofs"}) {
    json[list] = nlohmann::json::array();
  }
  for (const ReportNode& node : report.nodes) json["nodes"].push_back(NodeJson(node));
  for (const auto& t : report.quantize.type_sources) {
    json["type_sources"].push_back({{"tensor", t.tensor},
                                    {"type", Name(t.dtype)},
                                    {"scale", t.quant.scale},
                                    {"zero_point", t.quant.zero_point},
                                    {"source", t.source}});
  }
  for (const auto& n : report.quantize.float_nodes) {
    json["float_nodes"].push_back({{"node", n.node}, {"op", n.op}, {"reason", n.reason}});
  }
  for (const auto& n : report.quantize.notes) {
    json["notes"].push_back({{"node", n.node}, {"op", n.op}, {"text", n.text}});
  }
  for (const auto& r : report.quantize.repairs) {
    json["repairs"].push_back({{"node", r.node},
                               {"channel", r.channel},
                               {"reason", r.reason},
                               {"scale_before", r.scale_before},
                               {"scale_after", r.scale_after}});
  }
  for (const auto& c : report.quantize.range_changes) {
    json["range_changes"].push_back({{"tensor", c.tensor},
                                     {"rule", c.rule},
                                     {"reason", c.reason},
                                     {"before", RangeJson(c.before)},
                                     {"after", RangeJson(c.after)}});
  }
  json["preprocess"] = report.preprocess;
  if (report.sensitivity) json["sensitivity"] = SensitivityJson(*report.sensitivity);
  if (report.checked) json["check"] = VerdictJson(report.verdict);
  for (const LayerProof& proof : report.proofs) json["proofs"].push_back(ProofJson(proof));
  for (const LayerResult& l : report.layers) {
    json["layers"].push_back(LayerJson(l, report.tolerance));
  }
  return json;
}

std::vector<ReportNode> ListNodes(const Graph& graph) {
  std::vector<ReportNode> nodes;
  for (const Node& node : graph.nodes()) {
    const Value& y = graph.value(node.outputs[0]);
    TensorRecord record;
    record.layout = y.layout;
    record.shape = y.shape;
    nodes.push_back({node.name, OpName(node.op), y.name, y.dtype, OnnxShape(record), y.quant});
  }
  return nodes;
}

}  // namespace rshift
