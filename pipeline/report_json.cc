#include "pipeline/report_json.h"

#include <cmath>

#include "isa/function_names.h"
#include "pipeline/search/search_json.h"

namespace rshift {
namespace {

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

// Figures of the channels that are not all zero.
nlohmann::json ChannelJson(const ChannelSqnr& c) {
  return {{"count", c.channels},
          {"median_db", Number(c.median_db)},
          {"worst_decile_db", Number(c.worst_decile_db)},
          {"worst_db", Number(c.worst_db)},
          {"worst_channel", c.worst_channel}};
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

nlohmann::json VerdictJson(const Verdict& verdict) {
  nlohmann::json json = {{"grade", Name(verdict.grade)},       {"samples", verdict.samples},
                         {"why_none", verdict.why_none},       {"next", verdict.next},
                         {"outputs", nlohmann::json::array()}, {"trials", nlohmann::json::array()},
                         {"weakest", nlohmann::json::array()}};
  for (const OutputResult& output : verdict.outputs) {
    json["outputs"].push_back({{"name", output.name},
                               {"sqnr_db", Number(output.similarity.sqnr_db)},
                               {"cosine", Number(output.similarity.cosine)},
                               {"channels_median_db", Number(output.channels.median_db)},
                               {"equal_percent", output.equal_percent},
                               {"classes", output.classes},
                               {"rows", output.rows},
                               {"rows_agree", output.rows_agree},
                               {"rows_tied", output.rows_tied},
                               {"constant", output.constant},
                               {"within_step", output.within_step}});
  }
  if (verdict.boxes) {
    json["boxes"] = {{"wanted", verdict.boxes->wanted},
                     {"found", verdict.boxes->found},
                     {"matched", verdict.boxes->matched},
                     {"recall", verdict.boxes->recall()},
                     {"precision", verdict.boxes->precision()}};
  }
  for (const Trial& trial : verdict.trials) {
    json["trials"].push_back({{"options", trial.options},
                              {"recipe", trial.recipe},
                              {"quality_db", Number(trial.quality_db)},
                              {"grade", Name(trial.grade)}});
  }
  for (const LayerResult& layer : verdict.weakest) json["weakest"].push_back(layer.tensor);
  return json;
}

nlohmann::json SensitivityJson(const Sensitivity& sensitivity) {
  nlohmann::json json = {{"samples", sensitivity.samples},
                         {"kept", sensitivity.kept},
                         {"quality_db", sensitivity.result.quality_db},
                         {"enough", sensitivity.enough},
                         {"ranking", nlohmann::json::array()},
                         {"trials", nlohmann::json::array()}};
  for (const NodeSensitivity& node : sensitivity.ranking) {
    json["ranking"].push_back({{"tensor", node.tensor},
                               {"command", node.command},
                               {"layers", node.layers},
                               {"quality_db", node.quality_db}});
  }
  for (const SensitivityTrial& trial : sensitivity.trials) {
    json["trials"].push_back(
        {{"nodes", trial.nodes}, {"quality_db", trial.quality_db}, {"grade", Name(trial.grade)}});
  }
  return json;
}

nlohmann::json CorrectionJson(const BiasCorrectionReport& c) {
  return {{"mode", Name(c.mode)},
          {"kept", c.kept},
          {"samples", c.samples},
          {"passes", c.passes},
          {"layers", c.layers},
          {"candidates", c.candidates},
          {"channels", c.channels},
          {"slopes", c.slopes},
          {"largest_steps", Number(c.largest_quanta)},
          {"largest_node", c.largest_node},
          {"before_db", Number(c.before_db)},
          {"after_db", Number(c.after_db)},
          {"why_none", c.why_none}};
}

nlohmann::json WeightsJson(const WeightChoiceReport& w) {
  return {{"rounding", Name(w.methods.rounding)},
          {"clipping", Name(w.methods.clipping)},
          {"kept", w.kept},
          {"samples", w.samples},
          {"layers", w.layers},
          {"candidates", w.candidates},
          {"costly", w.costly},
          {"weights", w.weights},
          {"clipped_channels", w.channels},
          {"sums_gain_db", Number(w.gain_db)},
          {"before_db", Number(w.before_db)},
          {"after_db", Number(w.after_db)},
          {"why_none", w.why_none}};
}

nlohmann::json ScalesJson(const ScalesTrace& scales) {
  nlohmann::json json = {{"file", scales.file},
                         {"format", scales.format},
                         {"sha256", scales.sha256},
                         {"used", scales.used},
                         {"unused", nlohmann::json::array()}};
  for (const auto& [name, why] : scales.unused)
    json["unused"].push_back({{"name", name}, {"why", why}});
  return json;
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
                         {"equalized_tensors", report.equalized_tensors},
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
  if (report.layers_of_4_bits > 0) {
    json["weights_of_4_bits"] = {{"layers", report.layers_of_4_bits},
                                 {"weights", report.weights_of_4_bits}};
  }
  json["preprocess"] = report.preprocess;
  if (!report.scales.format.empty()) json["scales"] = ScalesJson(report.scales);
  if (report.search) json["auto"] = SearchJson(*report.search);
  if (report.weight_choice) json["weight_choice"] = WeightsJson(*report.weight_choice);
  if (report.bias_correction) json["bias_correction"] = CorrectionJson(*report.bias_correction);
  if (const auto& trial = report.equalization_trial) {
    json["equalization_trial"] = {{"tensors", trial->tensors},     {"samples", trial->samples},
                                  {"before_db", trial->before_db}, {"after_db", trial->after_db},
                                  {"kept", trial->kept},           {"why_none", trial->why_none}};
  }
  if (report.sensitivity) json["sensitivity"] = SensitivityJson(*report.sensitivity);
  if (report.checked) json["check"] = VerdictJson(report.verdict);
  for (const LayerProof& proof : report.proofs) json["proofs"].push_back(ProofJson(proof));
  for (const LayerResult& l : report.layers) {
    json["layers"].push_back(LayerJson(l, report.tolerance));
  }
  return json;
}

}  // namespace rshift
