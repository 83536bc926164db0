#include "interop/apply_scales.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/names.h"
#include "interop/apply_weights.h"
#include "interop/fill_ranges.h"
#include "interop/layer_names.h"
#include "interop/text_table.h"

namespace rshift {
namespace {

constexpr size_t kListed = 5;

// The float whose quotient by `steps` is the float nearest to `scale`, where there is one.
float ThresholdFor(double scale, double steps) {
  const auto wanted = static_cast<float>(scale);
  const auto first = static_cast<float>(static_cast<double>(wanted) * steps);
  for (const float t : {first, std::nextafter(first, 0.0f), std::nextafter(first, INFINITY)}) {
    if (static_cast<float>(static_cast<double>(t) / steps) == wanted) return t;
  }
  return first;
}

TensorRange RangeOfEntry(const ScaleEntry& entry) {
  const AxisRange range = RangeOf(entry);
  TensorRange result;
  result.low = static_cast<float>(*std::min_element(range.low.begin(), range.low.end()));
  result.high = static_cast<float>(*std::max_element(range.high.begin(), range.high.end()));
  result.threshold = static_cast<float>(ThresholdOf(entry, std::exp2(entry.bits - 1)));
  if (!entry.scales.empty() && IsCentred(entry) && entry.bits == 8) {
    const double scale = *std::max_element(entry.scales.begin(), entry.scales.end());
    result.threshold = ThresholdFor(scale, IsSigned(entry) ? 128.0 : 255.0);
  }
  result.min = static_cast<float>(entry.min.value_or(static_cast<double>(result.low)));
  result.max = static_cast<float>(entry.max.value_or(static_cast<double>(result.high)));
  result.method = "scales";
  return result;
}

std::string WithoutOperator(const std::string& name) {
  const size_t at = name.rfind('_');
  return at == std::string::npos ? name : name.substr(0, at);
}

// --- the set's names and the model's ---

class Names {
 public:
  Names(const ScaleSet& set, const Graph& imported, const Graph& graph)
      : set_(set), imported_(imported), graph_(graph) {}

  // The name that the model has for one of the set's; "" when it has none.
  std::string Resolve(const std::string& name) const {
    if (Has(name)) return name;
    const std::string shorter = WithoutOperator(name);
    return set_.names_end_in_operator && Has(shorter) ? shorter : "";
  }
  bool Has(const std::string& name) const {
    return imported_.FindValue(name).valid() || graph_.FindValue(name).valid();
  }

 private:
  const ScaleSet& set_;
  const Graph& imported_;
  const Graph& graph_;
};

class Applier {
 public:
  Applier(const ScaleSet& set, const Graph& imported, const CalibrationTable* base, QuantMode mode,
          Graph* graph, QuantizeConfig* config)
      : imported_(imported),
        base_(base),
        mode_(mode),
        graph_(*graph),
        config_(*config),
        set_(ByTensor(set, imported, &losses_)),
        names_(set_, imported, *graph),
        ranges_(graph->value_count()) {}

  AppliedScales Result() {
    TakeTensors();
    CheckSomeKnown();
    TakePrecisions();
    ApplyWeightScales(set_, imported_, &graph_, &losses_);
    FillMovedRanges(graph_, &ranges_);
    TakeBase();
    FillRanges(graph_, &ranges_);
    LeaveTailInFloat();
    return {Table(), Notes()};
  }

 private:
  void TakeTensors() {
    for (const ScaleEntry& entry : set_.entries) {
      if (entry.subject != Subject::kTensor) continue;
      ++tensors_;
      const std::string name = names_.Resolve(entry.name);
      const ValueId id = graph_.FindValue(name);
      if (name.empty()) {
        unknown_.insert(entry.name);
      } else if (!id.valid() || graph_.value(id).is_constant()) {
        ++losses_["tensors lie inside of fused operators: their scales have no use"];
      } else if (entry.is_float) {
        KeepFloat(name);
      } else {
        CountLosses(entry);
        ranges_[id.index()] = RangeOfEntry(entry);
      }
    }
  }

  void CountLosses(const ScaleEntry& entry) {
    if (mode_ == QuantMode::kSymmetric && !IsCentred(entry))
      ++losses_["zero points not used: --mode symmetric has none, --mode asymmetric keeps them"];
    if (entry.scales.size() > 1 || entry.low.size() > 1)
      ++losses_["activations with scales by channel get their largest range"];
    if (entry.bits != 8) ++losses_["tensors of a width other than 8 bits run in 8"];
  }

  void CheckSomeKnown() const {
    if (unknown_.size() < static_cast<size_t>(tensors_) || tensors_ == 0) return;
    std::set<std::string> model;
    for (const ValueId id : CalibratedValues(graph_)) model.insert(graph_.value(id).name);
    const std::string& first = *unknown_.begin();
    const std::string close = CloseNames(model, first);
    Fail(ErrorCode::kInvalidInput, set_.where, ": none of its ", tensors_,
         " tensors is in the model: '", first, "'",
         close.empty() ? Cat(" is no name like '", *model.begin(), "'")
                       : " (nearest: " + close + ")",
         "; are they the scales of another model?");
  }

  void TakePrecisions() {
    for (const auto& [name, precision] : set_.precisions) {
      if (precision == "INT8") continue;
      if (precision.find("INT4") != std::string::npos || precision == "F8") {
        ++losses_["operators of " + precision + " run in INT8"];
        continue;
      }
      const std::string output = OutputOf(name);
      if (output.empty()) {
        ++losses_["precisions not used: no operator of that name is left in the fused model"];
        continue;
      }
      if (precision != "F32") ++losses_["operators of " + precision + " run in F32"];
      KeepFloat(output);
    }
  }

  // Of the operator, by its name or its output's.
  std::string OutputOf(const std::string& name) const {
    const std::string shorter = set_.names_end_in_operator ? WithoutOperator(name) : name;
    for (const Node& node : graph_.nodes()) {
      const std::string& output = graph_.value(node.outputs[0]).name;
      if (node.name == name || output == name || node.name == shorter || output == shorter)
        return output;
    }
    return "";
  }

  void KeepFloat(const std::string& output) {
    LayerConfig& layer = config_.layers[output];
    if (!layer.float32) layer.float32 = true;
  }

  void TakeBase() {
    for (const ValueId id : CalibratedValues(graph_)) {
      const TensorRange* own = base_ == nullptr ? nullptr : base_->Find(graph_.value(id).name);
      if (!ranges_[id.index()] && own != nullptr) ranges_[id.index()] = *own;
    }
  }

  void LeaveTailInFloat() {
    const std::vector<NodeId> producers = graph_.Producers();
    for (const ValueId id : CalibratedValues(graph_)) {
      const NodeId producer = producers[id.index()];
      if (ranges_[id.index()] || !producer.valid() || !IsTail(graph_, producer)) continue;
      std::vector<NodeId> nodes = Descendants(graph_, id);
      nodes.push_back(producer);
      for (const NodeId node : nodes) {
        const ValueId y = graph_.node(node).outputs[0];
        if (graph_.value(y).dtype != DType::kF32) continue;
        KeepFloat(graph_.value(y).name);
        if (!ranges_[y.index()]) {
          ++losses_["tensors at the model's end have no scale: their operators run in F32"];
          ranges_[y.index()] = TensorRange{-1, 1, 1, -1, 1, "f32", 0};
        }
      }
    }
  }

  CalibrationTable Table() const {
    CalibrationTable table;
    if (base_ != nullptr) table = *base_;
    table.tensors.clear();
    table.method = "scales from " + set_.format;
    std::vector<std::string> missing;
    for (const ValueId id : CalibratedValues(graph_)) {
      const std::string& name = graph_.value(id).name;
      if (ranges_[id.index()]) {
        table.tensors.emplace_back(name, *ranges_[id.index()]);
      } else {
        missing.push_back(name);
      }
    }
    RSHIFT_REQUIRE(missing.empty(), ErrorCode::kInvalidInput, set_.where, ": no scale for ",
                   missing.size(), missing.size() == 1 ? " tensor" : " tensors",
                   " of the model, nor do its neighbours tell: ", Listed(missing, unknown_),
                   "; give --calibration TABLE.yaml beside --scales for what they do not say");
    return table;
  }

  // "'a' (nearest: 'b'), 'c' and 7 more".
  static std::string Listed(const std::vector<std::string>& names,
                            const std::set<std::string>& candidates) {
    std::string text;
    for (size_t i = 0; i < names.size() && i < kListed; ++i) {
      const std::string close = CloseNames(candidates, names[i]);
      text += (i == 0 ? "'" : ", '") + names[i] + "'";
      if (!close.empty()) text += " (nearest: " + close + ")";
    }
    if (names.size() > kListed) text += Cat(" and ", names.size() - kListed, " more");
    return text;
  }

  std::vector<std::string> Notes() const {
    std::vector<std::string> notes;
    for (const std::string& line : LossLines(losses_)) notes.push_back("--scales: " + line);
    if (unknown_.empty()) return notes;
    std::set<std::string> model;
    for (const ValueId id : CalibratedValues(graph_)) model.insert(graph_.value(id).name);
    notes.push_back(
        Cat("--scales: ", unknown_.size(), " of ", tensors_,
            " tensors are not in the model: ", Listed({unknown_.begin(), unknown_.end()}, model)));
    return notes;
  }

  Losses losses_;
  const Graph& imported_;
  const CalibrationTable* base_;
  QuantMode mode_;
  Graph& graph_;
  QuantizeConfig& config_;
  const ScaleSet set_;
  const Names names_;
  MaybeRanges ranges_;
  std::set<std::string> unknown_;
  int64_t tensors_ = 0;
};

}  // namespace

AppliedScales ApplyScales(const ScaleSet& set, const Graph& imported, const CalibrationTable* base,
                          QuantMode mode, Graph* graph, QuantizeConfig* config) {
  return Applier(set, imported, base, mode, graph, config).Result();
}

}  // namespace rshift
