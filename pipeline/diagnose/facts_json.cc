#include "pipeline/diagnose/facts_json.h"

namespace rshift {
namespace {

nlohmann::json TensorsJson(const std::vector<TensorFacts>& tensors) {
  nlohmann::json list = nlohmann::json::array();
  for (const TensorFacts& t : tensors) {
    nlohmann::json entry = {{"tensor", t.tensor},
                            {"node", t.node},
                            {"op", t.op},
                            {"output", t.output},
                            {"read_by", t.read_by},
                            {"product", t.product},
                            {"equalizable", t.equalizable},
                            {"min", t.min},
                            {"max", t.max},
                            {"bulk_peak", t.bulk_peak},
                            {"bulk_rms", t.bulk_rms},
                            {"gap",
                             {{"share", t.gap.share},
                              {"smaller_side", t.gap.smaller_side},
                              {"larger_width", t.gap.larger_width},
                              {"low", t.gap.low},
                              {"high", t.gap.high}}}};
    if (t.has_range) {
      entry["range"] = {t.range_low, t.range_high};
      entry["method"] = t.method;
      entry["clipped"] = t.clipped;
    }
    if (t.integer) {
      entry["alone"] = {{"sqnr_db", t.integer->sqnr_db},
                        {"median_channel_db", t.integer->median_channel_db},
                        {"worst_channel_db", t.integer->worst_channel_db},
                        {"worst_channel", t.integer->worst_channel}};
      entry["saturated"] = t.integer->saturated;
    }
    entry["channel_min"] = t.channel_min;
    entry["channel_max"] = t.channel_max;
    entry["sample_peaks"] = t.sample_peaks;
    list.push_back(std::move(entry));
  }
  return list;
}

nlohmann::json ScoresJson(const std::vector<ScoreFacts>& scores) {
  nlohmann::json list = nlohmann::json::array();
  for (const ScoreFacts& score : scores) {
    list.push_back({{"output", score.output},
                    {"count", score.count},
                    {"median_ratio", score.median_ratio},
                    {"float", score.floating},
                    {"integer", score.integer}});
  }
  return list;
}

nlohmann::json VariantsJson(const PreprocessResults& results) {
  nlohmann::json list = nlohmann::json::array();
  for (const PreprocessResult& one : results.variants) {
    nlohmann::json entry = {{"name", one.variant}, {"low", one.low}, {"high", one.high}};
    if (one.norm_distance) entry["batch_norm_distance"] = *one.norm_distance;
    if (results.labels)
      entry["hits_at_offset"] = {{"-1", one.hits[0]}, {"0", one.hits[1]}, {"1", one.hits[2]}};
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace

nlohmann::json FactsJson(const DiagnoseFacts& facts) {
  nlohmann::json found = {{"mode", facts.mode},
                          {"samples", facts.samples},
                          {"tensors", TensorsJson(facts.tensors)},
                          {"scores", ScoresJson(facts.scores)},
                          {"check", Name(facts.verdict.grade)}};
  if (facts.preprocess) found["preprocessing"] = VariantsJson(*facts.preprocess);
  return found;
}

}  // namespace rshift
