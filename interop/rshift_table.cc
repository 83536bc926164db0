// Our calibration tables (quantize/ranges/table.h).
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "interop/format_list.h"
#include "quantize/ranges/table.h"

namespace rshift {
namespace {

bool Recognise(const std::string& text) {
  return text.find("rshift_calibration:") != std::string::npos;
}

ScaleSet Read(const std::string& text, const std::string& where) {
  // What other tools hear of are the model's own tensors.
  const CalibrationTable table = WithoutEqualization(ReadTable(text, where), where);
  ScaleSet set;
  set.method = table.method;
  set.samples = table.samples;
  for (const auto& [name, range] : table.tensors) {
    ScaleEntry entry{.name = name};
    entry.threshold = range.threshold;
    entry.low = {range.low};
    entry.high = {range.high};
    entry.min = range.min;
    entry.max = range.max;
    set.entries.push_back(std::move(entry));
  }
  return set;
}

TensorRange RangeOfEntry(const ScaleEntry& entry, const std::string& method) {
  const AxisRange range = RangeOf(entry);
  TensorRange result;
  result.low = static_cast<float>(*std::min_element(range.low.begin(), range.low.end()));
  result.high = static_cast<float>(*std::max_element(range.high.begin(), range.high.end()));
  // S = threshold / 128 for signed integers of 8 bits.
  result.threshold = static_cast<float>(ThresholdOf(entry, std::exp2(entry.bits - 1)));
  result.min = static_cast<float>(entry.min.value_or(static_cast<double>(result.low)));
  result.max = static_cast<float>(entry.max.value_or(static_cast<double>(result.high)));
  result.method = method;
  return result;
}

std::string Write(const ScaleSet& set, const WriteOptions&, Losses* losses) {
  CalibrationTable table;
  table.method = set.method.empty() ? set.format : set.method;
  table.samples = set.samples;
  for (const ScaleEntry& entry : set.entries) {
    if (entry.subject != Subject::kTensor) {
      ++(*losses)[Cat("scales of ", Name(entry.subject),
                      " left out: a calibration table has activations by tensor")];
      continue;
    }
    if (entry.is_float) {
      ++(*losses)["tensors in floating point left out: a calibration table has ranges only"];
      continue;
    }
    if (entry.scales.size() > 1 || entry.low.size() > 1)
      ++(*losses)["tensors with scales by channel get their largest range"];
    if (entry.bits != 8) ++(*losses)["widths other than 8 bits left out: the range stays"];
    table.tensors.emplace_back(entry.name, RangeOfEntry(entry, table.method));
  }
  if (!set.precisions.empty())
    (*losses)["precisions of operators left out: those belong to --config"] =
        static_cast<int64_t>(set.precisions.size());
  return WriteTable(table);
}

}  // namespace

const ScaleFormat kRshiftTable = {"rshift-table",
                                  "calibration table of model_calibrate",
                                  ".table.yaml table.yaml",
                                  Recognise,
                                  Read,
                                  Write};

}  // namespace rshift
