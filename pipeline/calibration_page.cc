#include "pipeline/calibration_page.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/error.h"
#include "calibrate/linear_histogram.h"
#include "pipeline/html_page.h"
#include "pipeline/page_texts.h"

namespace rshift {
namespace {

constexpr size_t kBins = 160;

// How many of the tensors' ends each sample sets.
std::map<RecordedSample, int64_t> CountEnds(const StatisticsFile& statistics) {
  std::map<RecordedSample, int64_t> ends;
  for (const TensorStatistics& tensor : statistics.tensors) {
    for (const RecordedSample* sample : {&tensor.min_sample, &tensor.max_sample})
      if (tensor.count > 0 && !sample->sha256.empty()) ++ends[*sample];
  }
  return ends;
}

using Places = std::map<RecordedSample, size_t>;

nlohmann::json PlaceIn(const Places& places, const RecordedSample& sample) {
  const auto found = places.find(sample);
  return found == places.end() ? nlohmann::json() : nlohmann::json(found->second);
}

// Counts without zeros, which the page says apart: one bin of them would hide the rest.
nlohmann::json HistogramOf(const TensorStatistics& tensor) {
  if (tensor.count == 0 || (tensor.min == 0 && tensor.max == 0)) return nullptr;
  const LinearHistogram histogram = SignedHistogram(tensor, Bins(tensor), kBins);
  nlohmann::json counts = nlohmann::json::array();
  for (const double count : histogram.counts)
    counts.push_back(count < 1 ? std::ceil(count) : std::round(count));
  return {{"low", histogram.low}, {"step", histogram.width()}, {"counts", std::move(counts)}};
}

nlohmann::json ModeOf(float low, float high, const std::optional<RangeEffect>& effect) {
  nlohmann::json mode = {{"range", {low, high}}};
  if (!effect) return mode;
  mode["clipped"] = effect->clipped;
  mode["sqnr_db"] = effect->sqnr_db;
  return mode;
}

nlohmann::json RangeOf(const TensorRange& range) {
  const float low = range.min < 0 ? -range.threshold : 0.0f;
  return {{"method", range.method},
          {"symmetric", ModeOf(low, range.threshold, range.symmetric)},
          {"asymmetric",
           ModeOf(std::min(range.low, 0.0f), std::max(range.high, 0.0f), range.asymmetric)}};
}

// What made a tensor.
std::string MakerOf(const Graph& graph, const std::vector<NodeId>& producers,
                    const std::string& tensor) {
  const ValueId id = graph.FindValue(tensor);
  if (!id.valid()) return "";
  const NodeId node = producers[id.index()];
  return node.valid() ? OpName(graph.node(node).op) : "input";
}

nlohmann::json TensorsOf(const CalibrationPage& page, const Places& places) {
  const std::vector<NodeId> producers = page.graph.Producers();
  nlohmann::json tensors = nlohmann::json::array();
  for (size_t t = 0; t < page.statistics.tensors.size(); ++t) {
    const TensorStatistics& seen = page.statistics.tensors[t];
    const TensorRange& range = page.table.tensors[t].second;
    nlohmann::json tensor = {{"name", seen.name},
                             {"op", MakerOf(page.graph, producers, seen.name)},
                             {"min", range.min},
                             {"max", range.max},
                             {"count", seen.count},
                             {"zeros", seen.histogram.zeros},
                             {"infinities", seen.infinities},
                             {"min_sample", PlaceIn(places, seen.min_sample)},
                             {"max_sample", PlaceIn(places, seen.max_sample)},
                             {"histogram", HistogramOf(seen)},
                             {"chosen", RangeOf(range)},
                             {"reason", range.reason}};
    tensor["methods"] = nlohmann::json::array();
    for (const CalibrationTable& method : page.methods)
      tensor["methods"].push_back(RangeOf(method.tensors[t].second));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace

std::vector<RecordedSample> ExtremeSamplesOf(const StatisticsFile& statistics) {
  std::vector<std::pair<int64_t, RecordedSample>> counted;
  for (const auto& [sample, ends] : CountEnds(statistics)) counted.emplace_back(-ends, sample);
  std::sort(counted.begin(), counted.end());
  std::vector<RecordedSample> samples;
  samples.reserve(counted.size());
  for (auto& [ends, sample] : counted) samples.push_back(std::move(sample));
  return samples;
}

std::string CalibrationHtml(const CalibrationPage& page) {
  const std::map<RecordedSample, int64_t> ends = CountEnds(page.statistics);
  nlohmann::json samples = nlohmann::json::array();
  Places places;
  for (const RecordedSample& sample : ExtremeSamplesOf(page.statistics)) {
    const auto image = page.pictures.images.find(sample);
    places.emplace(sample, places.size());
    samples.push_back(
        {{"name", sample.name}, {"sha256", sample.sha256}, {"ends", ends.at(sample)}});
    if (image != page.pictures.images.end()) samples.back()["picture"] = image->second;
  }
  HtmlPage html;
  html.title = Cat("Calibration of ", page.model);
  html.styles = {kPageStyle, kTableStyle, kCalibrationStyle};
  html.data_id = "calibration";
  html.data = {{"method", page.table.method},
               {"samples", page.table.samples},
               {"samples_sha256", page.table.samples_sha256},
               {"model_sha256", page.table.model_sha256},
               {"preprocess", page.table.preprocess},
               {"environment", page.table.environment},
               {"equalized", page.table.equalization.size()},
               {"method_names", nlohmann::json::array()},
               {"extreme_samples", std::move(samples)},
               {"why_no_pictures", page.pictures.why_none},
               {"tensors", TensorsOf(page, places)}};
  for (const CalibrationTable& method : page.methods)
    html.data["method_names"].push_back(method.method);
  html.scripts = {kPageToolsScript, kCalibrationScript};
  html.without_script =
      "The tables of this page need JavaScript; model_tool explain says the same of one tensor.";
  return HtmlText(html);
}

}  // namespace rshift
