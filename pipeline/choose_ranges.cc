#include "pipeline/choose_ranges.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/portable_math.h"
#include "pipeline/consumer_graph.h"
#include "pipeline/output_quality.h"
#include "pipeline/paired_choice.h"

namespace rshift {
namespace {

// Why a tensor is whole in all tables; "" where it is not. Makes it so.
std::vector<std::string> KeepWhole(const Graph& graph, std::vector<CalibrationTable>& tables) {
  std::vector<std::string> reasons;
  for (size_t t = 0; t < tables[0].tensors.size(); ++t) {
    const auto& [name, whole] = tables[0].tensors[t];
    const std::string why = ConsumersOf(graph, graph.FindValue(name)).keep_all;
    reasons.push_back(why.empty() || whole.method == kKnownMethod ? ""
                                                                  : Cat("never clipped: ", why));
    for (size_t m = 1; m < tables.size() && !why.empty(); ++m) tables[m].tensors[t].second = whole;
  }
  return reasons;
}

std::string Decibels(double db) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f dB", db);
  return text;
}

// One table for both modes.
CalibrationTable Composed(const std::vector<CalibrationTable>& tables, size_t symmetric,
                          size_t asymmetric) {
  CalibrationTable table = tables[0];
  TakeChoices(
      tables,
      std::vector<TensorChoice>(table.tensors.size(), {"", {symmetric, 0, 0}, {asymmetric, 0, 0}}),
      table);
  return table;
}

// What a mode takes in the end, and why.
struct Winner {
  size_t single = 0;  // the best table
  double single_db = 0, mixed_db = 0;
  bool mixed() const { return mixed_db > single_db; }
};

std::string ReasonOf(const char* mode, const Winner& winner, const ModeChoice& choice,
                     const std::string& method) {
  if (!winner.mixed())
    return Cat(mode, ": ", method, " in the whole network, ", Decibels(winner.single_db),
               " (by tensor ", Decibels(winner.mixed_db), ")");
  const std::string whole =
      choice.table == 0 ? "" : Cat(" (whole range ", Decibels(choice.first_db), ")");
  return Cat(mode, " ", Decibels(choice.quality_db), whole);
}

// How wide the ranges of a table are, all together.
double Octaves(const CalibrationTable& table, QuantMode mode) {
  double octaves = 0;
  for (const auto& [name, range] : table.tensors) {
    const double width = mode == QuantMode::kSymmetric
                             ? range.threshold
                             : static_cast<double>(range.high) - static_cast<double>(range.low);
    if (width > 0) octaves += portable::Log2(width);
  }
  return octaves;
}

// The widest of those that are as good as the best.
Winner BestOf(const std::vector<CalibrationTable>& tables, const OutputQuality& quality,
              QuantMode mode) {
  const std::vector<std::vector<double>> found = quality.OfAll(tables, mode);
  std::vector<std::pair<double, size_t>> order;
  for (size_t m = 0; m < tables.size(); ++m) order.emplace_back(-Octaves(tables[m], mode), m);
  std::sort(order.begin(), order.end());
  std::vector<std::vector<double>> ordered;
  ordered.reserve(order.size());
  for (const auto& [octaves, m] : order) ordered.push_back(found[m]);
  const size_t winner = order[FirstAsGoodAsTheBest(ordered)].second;
  return {winner, Mean(found[winner]), 0};
}

}  // namespace

CalibrationTable ChooseRanges(const Graph& graph, std::vector<CalibrationTable> tables,
                              const Dataset& samples, const ChooseRangesOptions& options) {
  const std::vector<std::string> kept = KeepWhole(graph, tables);
  const OutputQuality quality(graph, samples, options);
  Winner symmetric = BestOf(tables, quality, QuantMode::kSymmetric);
  Winner asymmetric = BestOf(tables, quality, QuantMode::kAsymmetric);
  const CalibrationTable start = Composed(tables, symmetric.single, asymmetric.single);
  std::vector<TensorChoice> choices = ChooseByTensor(graph, tables, start, samples, options);
  CalibrationTable table = start;
  TakeChoices(tables, choices, table);
  symmetric.mixed_db = Mean(quality.Of(table, QuantMode::kSymmetric));
  asymmetric.mixed_db = Mean(quality.Of(table, QuantMode::kAsymmetric));
  for (TensorChoice& choice : choices) {
    if (!symmetric.mixed()) choice.symmetric.table = symmetric.single;
    if (!asymmetric.mixed()) choice.asymmetric.table = asymmetric.single;
  }
  TakeChoices(tables, choices, table);
  table.method = kAutoMethod;
  for (size_t t = 0; t < choices.size(); ++t) {
    TensorRange& range = table.tensors[t].second;
    const TensorChoice& choice = choices[t];
    range.reason = kept[t];
    if (choice.readers.empty()) continue;
    range.reason = Cat(
        "integer output of ", choice.readers, ": ",
        ReasonOf("symmetric", symmetric, choice.symmetric, tables[symmetric.single].method), "; ",
        ReasonOf("asymmetric", asymmetric, choice.asymmetric, tables[asymmetric.single].method));
  }
  return table;
}

}  // namespace rshift
