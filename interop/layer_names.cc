#include "interop/layer_names.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace rshift {
namespace {

const Node* FindLayer(const Graph& graph, const std::string& name) {
  for (const Node& node : graph.nodes()) {
    if (node.name == name || graph.value(node.outputs[0]).name == name) return &node;
  }
  return nullptr;
}

bool IsLayer(const Graph& graph, const Node& node) {
  const bool linear =
      std::holds_alternative<Conv>(node.op) || std::holds_alternative<MatMul>(node.op);
  return linear && node.inputs.size() > 1 && graph.value(node.inputs[1]).is_constant() &&
         graph.value(node.inputs[1]).dtype == DType::kF32;
}

double Reach(const ScaleEntry& entry) { return ThresholdOf(entry, 127); }

// max|w| / 127 of each output channel: the first dimension of convolutions, the last of matrices.
std::vector<double> ScalesOfWeights(const Graph& graph, const Node& node) {
  const Value& w = graph.value(node.inputs[1]);
  const auto elements = w.constant->As<float>();
  const bool is_conv = std::holds_alternative<Conv>(node.op);
  const int64_t channels = is_conv ? w.shape.front() : w.shape.back();
  const int64_t each = channels > 0 ? static_cast<int64_t>(elements.size()) / channels : 0;
  std::vector<double> scales(channels, 0.0);
  for (int64_t i = 0; i < each * channels; ++i) {
    double& scale = scales[is_conv ? i / each : i % channels];
    scale = std::max(scale, std::fabs(static_cast<double>(elements[i])) / 127);
  }
  for (double& scale : scales) scale = scale > 0 ? scale : 1.0;
  return scales;
}

using EntryKey = std::pair<Subject, std::string>;

std::map<EntryKey, const ScaleEntry*> EntriesByName(const ScaleSet& set) {
  std::map<EntryKey, const ScaleEntry*> entries;
  for (const ScaleEntry& entry : set.entries) entries[{entry.subject, entry.name}] = &entry;
  return entries;
}

// A set under construction: of two entries of one tensor the larger stays.
class LargestEntries {
 public:
  LargestEntries(ScaleSet* set, Losses* losses) : set_(*set), losses_(*losses) {}

  void Add(ScaleEntry entry) {
    const auto [at, is_new] =
        places_.emplace(EntryKey{entry.subject, entry.name}, set_.entries.size());
    if (is_new) {
      set_.entries.push_back(std::move(entry));
      return;
    }
    ScaleEntry& known = set_.entries[at->second];
    if (entry.subject != Subject::kTensor || known.is_float || entry.is_float ||
        Reach(known) == Reach(entry)) {
      return;
    }
    ++losses_["layers that read one tensor by different scales: the largest range is taken"];
    if (Reach(entry) > Reach(known)) known = std::move(entry);
  }

 private:
  ScaleSet& set_;
  Losses& losses_;
  std::map<EntryKey, size_t> places_;
};

}  // namespace

ScaleSet ByTensor(const ScaleSet& set, const Graph& graph, Losses* losses,
                  std::vector<std::string>* unknown) {
  ScaleSet result = set;
  result.entries.clear();
  LargestEntries entries(&result, losses);
  for (ScaleEntry entry : set.entries) {
    if (entry.subject == Subject::kLayerInput || entry.subject == Subject::kLayerWeights) {
      const Node* node = FindLayer(graph, entry.name);
      const bool input = entry.subject == Subject::kLayerInput;
      if (node == nullptr || node->inputs.size() < (input ? 1 : 2) ||
          !node->inputs[input ? 0 : 1].valid()) {
        ++(*losses)["scales of layers left out: the model has no layer of that name"];
        if (unknown != nullptr) unknown->push_back(entry.name);
        continue;
      }
      entry.name = graph.value(node->inputs[input ? 0 : 1]).name;
      entry.subject = input ? Subject::kTensor : Subject::kWeights;
    }
    entries.Add(std::move(entry));
  }
  return result;
}

ScaleSet ByLayer(const ScaleSet& set, const Graph& graph, Losses* losses) {
  ScaleSet result = set;
  result.entries.clear();
  const std::map<EntryKey, const ScaleEntry*> entries = EntriesByName(set);
  const auto find = [&](Subject subject, const std::string& name) {
    const auto found = entries.find({subject, name});
    return found == entries.end() || found->second->is_float ? nullptr : found->second;
  };
  std::set<std::string> used;
  for (const Node& node : graph.nodes()) {
    if (!IsLayer(graph, node)) continue;
    const ScaleEntry* input = find(Subject::kTensor, graph.value(node.inputs[0]).name);
    if (input == nullptr) {
      ++(*losses)["layers left out: their input has no scale"];
      continue;
    }
    used.insert(input->name);
    ScaleEntry entry = *input;
    entry.name = node.name;
    entry.subject = Subject::kLayerInput;
    result.entries.push_back(entry);
    const ScaleEntry* own = find(Subject::kWeights, graph.value(node.inputs[1]).name);
    ScaleEntry weights{.name = node.name, .subject = Subject::kLayerWeights};
    weights.scales = own == nullptr ? ScalesOfWeights(graph, node) : SymmetricScalesOf(*own);
    weights.is_signed = true;
    result.entries.push_back(weights);
  }
  for (const ScaleEntry& entry : set.entries) {
    if (entry.subject != Subject::kTensor && entry.subject != Subject::kWeights) {
      result.entries.push_back(entry);
    } else if (entry.subject == Subject::kTensor && !used.contains(entry.name)) {
      ++(*losses)["tensors left out: no convolution or matrix product reads them"];
    }
  }
  return result;
}

ScaleSet WithOnnxNames(const ScaleSet& set, const Graph& graph) {
  if (!set.names_end_in_operator) return set;
  std::set<std::string> known;
  for (int i = 0; i < graph.value_count(); ++i) known.insert(graph.value(ValueId(i)).name);
  for (const Node& node : graph.nodes()) known.insert(node.name);
  const auto onnx = [&](const std::string& name) {
    const std::string shorter = WithoutOperator(name);
    return !known.contains(name) && known.contains(shorter) ? shorter : name;
  };
  ScaleSet result = set;
  result.precisions.clear();
  for (ScaleEntry& entry : result.entries) entry.name = onnx(entry.name);
  for (const auto& [name, precision] : set.precisions) result.precisions[onnx(name)] = precision;
  return result;
}

ScaleSet WithOperatorNames(const ScaleSet& set, const ModelNames& names) {
  const auto longer = [&](const std::string& name) {
    const auto found = names.operators.find(name);
    return found == names.operators.end() ? name : name + "_" + found->second;
  };
  ScaleSet result = set;
  result.precisions.clear();
  for (ScaleEntry& entry : result.entries) {
    if (entry.subject == Subject::kTensor) entry.name = longer(entry.name);
  }
  for (const auto& [name, precision] : set.precisions) result.precisions[longer(name)] = precision;
  return result;
}

}  // namespace rshift
