#include "interop/apply_scales.h"

#include <algorithm>
#include <initializer_list>
#include <set>

#include "base/error.h"
#include "base/names.h"
#include "interop/apply_float.h"
#include "interop/apply_weights.h"
#include "interop/entry_range.h"
#include "interop/fill_ranges.h"
#include "interop/layer_names.h"

namespace rshift {
namespace {

constexpr size_t kListed = 5;
constexpr const char* kNotInModel = "the model has no such name";

// "'a' (nearest: 'b'), 'c' and 7 more".
std::string Listed(const std::vector<std::string>& names, const std::set<std::string>& candidates) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < kListed; ++i) {
    const std::string close = CloseNames(candidates, names[i]);
    text += (i == 0 ? "'" : ", '") + names[i] + "'";
    if (!close.empty()) text += " (nearest: " + close + ")";
  }
  if (names.size() > kListed) text += Cat(" and ", names.size() - kListed, " more");
  return text;
}

class Applier {
 public:
  Applier(const ScaleSet& set, const Graph& imported, const ModelNames& names,
          const CalibrationTable* base, QuantMode mode, Graph* graph, QuantizeConfig* config)
      : imported_(imported),
        model_(names),
        base_(base),
        mode_(mode),
        graph_(*graph),
        config_(*config),
        set_(WithOnnxNames(ByTensor(set, imported, &losses_, &unknown_layers_), imported)),
        ranges_(graph->value_count()) {
    trace_.format = set.format;
    for (const std::string& name : unknown_layers_) trace_.unused.emplace_back(name, kNotInModel);
  }

  AppliedScales Result() {
    TakeEntries();
    TakePrecisions();
    CheckSomeKnown();
    KeepTensorsFloat(graph_, ranges_, &floats_, &config_);
    FillMovedRanges(graph_, &ranges_);
    TakeBase();
    FillRanges(graph_, &ranges_);
    FillFloatRanges(graph_, floats_, config_, &ranges_);
    LeaveTailInFloat();
    return {Table(), Notes(), trace_};
  }

 private:
  void TakeEntries() {
    for (const ScaleEntry& entry : set_.entries) {
      const bool is_weights = entry.subject == Subject::kWeights;
      const std::string why = is_weights ? TakeWeights(entry) : TakeTensor(entry);
      Record(entry.name, why);
    }
  }

  // `why`: "" when the name was used.
  void Record(const std::string& name, const std::string& why, bool is_loss = true) {
    if (why.empty()) {
      trace_.used.push_back(name);
      return;
    }
    trace_.unused.emplace_back(name, why);
    if (is_loss && why != kNotInModel) ++losses_[why];
  }

  std::string TakeTensor(const ScaleEntry& entry) {
    ++tensors_;
    const ValueId id = graph_.FindValue(entry.name);
    const bool inside = !id.valid() || graph_.value(id).is_constant();
    if (inside && !imported_.FindValue(entry.name).valid()) {
      unknown_.push_back(entry.name);
      return kNotInModel;
    }
    ++known_;
    if (entry.is_float) {
      ++losses_["tensors in floating point: what makes and reads them runs in F32"];
      if (!inside) floats_.insert(id);
      return inside ? KeepOperatorFloat(entry.name) : "";
    }
    if (inside) return "tensors lie inside of fused operators: their scales have no use";
    CountLosses(entry);
    ranges_[id.index()] = RangeOfEntry(entry);
    return "";
  }

  std::string TakeWeights(const ScaleEntry& entry) {
    known_ += model_.weights.contains(entry.name) || imported_.FindValue(entry.name).valid() ||
              graph_.FindValue(entry.name).valid();
    if (!entry.is_float) return ApplyWeightScales(set_, entry, imported_, model_, &graph_);
    const std::vector<NodeId> nodes = WeightedNodes(model_, graph_, entry.name);
    for (const NodeId node : nodes) KeepFloat(graph_, graph_.node(node), &config_);
    if (nodes.empty()) return "weights in floating point: no operator of the model reads them";
    ++losses_["weights in floating point: their operators run in F32"];
    return "";
  }

  void CountLosses(const ScaleEntry& entry) {
    if (mode_ == QuantMode::kSymmetric && !IsCentred(entry))
      ++losses_["zero points not used: --mode symmetric has none, --mode asymmetric keeps them"];
    if (entry.scales.size() > 1 || entry.low.size() > 1)
      ++losses_["activations with scales by channel get their largest range"];
    if (entry.bits != 8) ++losses_["tensors of a width other than 8 bits run in 8"];
  }

  std::set<std::string> ModelTensors() const {
    std::set<std::string> names;
    for (const ValueId id : CalibratedValues(graph_)) names.insert(graph_.value(id).name);
    return names;
  }

  void CheckSomeKnown() const {
    RSHIFT_REQUIRE(tensors_ == 0 || unknown_.size() < static_cast<size_t>(tensors_),
                   ErrorCode::kInvalidInput, set_.where, ": none of its ", tensors_,
                   " tensors is in the model: ", NoName(unknown_),
                   "; are they the scales of another model?");
    RSHIFT_REQUIRE(known_ > 0 || trace_.unused.empty(), ErrorCode::kInvalidInput, set_.where,
                   ": none of its ", trace_.unused.size(),
                   " names is in the model: ", NoName({trace_.unused[0].first}),
                   "; is it of another model?");
  }

  std::string NoName(const std::vector<std::string>& names) const {
    const std::set<std::string> model = ModelTensors();
    const std::string close = CloseNames(model, names[0]);
    const std::string own = model.empty()   ? "; it has no tensor with a scale"
                            : close.empty() ? Cat(" is no name like '", *model.begin(), "'")
                                            : " (nearest: " + close + ")";
    return "'" + names[0] + "'" + own;
  }

  void TakePrecisions() {
    for (const auto& [name, precision] : set_.precisions) {
      known_ += IsInput(name) || HasOperator(name);
      Record(name, TakePrecision(name, precision), /*is_loss=*/precision != "INT8");
    }
  }

  std::string TakePrecision(const std::string& name, const std::string& precision) {
    if (IsInput(name)) {
      return "precisions of inputs not used: an operator that reads them is to be named";
    }
    if (precision == "INT8") return HasOperator(name) ? "" : kNoOperator;
    if (precision.find("INT4") != std::string::npos || precision == "F8") {
      if (!HasOperator(name)) return kNoOperator;
      ++losses_["operators of " + precision + " run in INT8"];
      return "";
    }
    if (precision != "F32" && HasOperator(name))
      ++losses_["operators of " + precision + " run in F32"];
    return KeepOperatorFloat(name);
  }

  bool IsInput(const std::string& name) const {
    return std::any_of(graph_.inputs.begin(), graph_.inputs.end(),
                       [&](ValueId id) { return graph_.value(id).name == name; });
  }

  // The operator of this name, or the one that makes the tensor of this name, as it is after
  // fusion; null when the model has none or nothing of it is left.
  const Node* FindOperator(const std::string& name) const {
    for (const Graph* graph : std::initializer_list<const Graph*>{&graph_, &imported_}) {
      for (const Node& node : graph->nodes()) {
        if (node.name != name && graph->value(node.outputs[0]).name != name) continue;
        const auto same = std::find_if(graph_.nodes().begin(), graph_.nodes().end(),
                                       [&](const Node& other) { return other.name == node.name; });
        if (same != graph_.nodes().end()) return &*same;
      }
    }
    return nullptr;
  }
  bool HasOperator(const std::string& name) const { return FindOperator(name) != nullptr; }

  std::string KeepOperatorFloat(const std::string& name) {
    const Node* node = FindOperator(name);
    if (node == nullptr) return kNoOperator;
    KeepFloat(graph_, *node, &config_);
    return "";
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
        KeepFloat(graph_, graph_.node(node), &config_);
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
                   " of the model, nor do its neighbours tell: ",
                   Listed(missing, {unknown_.begin(), unknown_.end()}),
                   "; give --calibration TABLE.yaml beside --scales for what they do not say");
    return table;
  }

  std::vector<std::string> Notes() const {
    std::vector<std::string> notes;
    for (const std::string& line : LossLines(losses_)) notes.push_back("--scales: " + line);
    if (unknown_.empty()) return notes;
    notes.push_back(Cat("--scales: ", unknown_.size(), " of ", tensors_,
                        " tensors are not in the model: ", Listed(unknown_, ModelTensors())));
    return notes;
  }

  static constexpr const char* kNoOperator =
      "precisions not used: no operator of that name is left in the fused model";

  Losses losses_;
  std::vector<std::string> unknown_layers_;
  const Graph& imported_;
  const ModelNames& model_;
  const CalibrationTable* base_;
  QuantMode mode_;
  Graph& graph_;
  QuantizeConfig& config_;
  const ScaleSet set_;
  MaybeRanges ranges_;
  std::set<ValueId> floats_;
  std::vector<std::string> unknown_;  // tensors
  ScalesTrace trace_;
  int64_t tensors_ = 0, known_ = 0;  // known_: names that the model has
};

}  // namespace

AppliedScales ApplyScales(const ScaleSet& set, const Graph& imported, const ModelNames& names,
                          const CalibrationTable* base, QuantMode mode, Graph* graph,
                          QuantizeConfig* config) {
  return Applier(set, imported, names, base, mode, graph, config).Result();
}

}  // namespace rshift
