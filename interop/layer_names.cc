#include "interop/layer_names.h"

#include <algorithm>
#include <cmath>

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

const ScaleEntry* Find(const ScaleSet& set, Subject subject, const std::string& name) {
  const auto found = std::find_if(set.entries.begin(), set.entries.end(), [&](const auto& e) {
    return e.subject == subject && e.name == name;
  });
  return found == set.entries.end() ? nullptr : &*found;
}

void AddLargest(ScaleEntry entry, ScaleSet* set, Losses* losses) {
  const ScaleEntry* known = Find(*set, entry.subject, entry.name);
  if (known == nullptr) {
    set->entries.push_back(std::move(entry));
  } else if (entry.subject == Subject::kTensor && Reach(*known) != Reach(entry)) {
    ++(*losses)["layers that read one tensor by different scales: the largest range is taken"];
    if (Reach(entry) > Reach(*known)) set->entries[known - set->entries.data()] = std::move(entry);
  }
}

}  // namespace

ScaleSet ByTensor(const ScaleSet& set, const Graph& graph, Losses* losses) {
  ScaleSet result = set;
  result.entries.clear();
  for (ScaleEntry entry : set.entries) {
    if (entry.subject == Subject::kLayerInput || entry.subject == Subject::kLayerWeights) {
      const Node* node = FindLayer(graph, entry.name);
      const bool input = entry.subject == Subject::kLayerInput;
      if (node == nullptr || node->inputs.size() < (input ? 1 : 2)) {
        ++(*losses)["scales of layers left out: the model has no layer of that name"];
        continue;
      }
      entry.name = graph.value(node->inputs[input ? 0 : 1]).name;
      entry.subject = input ? Subject::kTensor : Subject::kWeights;
    }
    AddLargest(std::move(entry), &result, losses);
  }
  return result;
}

ScaleSet ByLayer(const ScaleSet& set, const Graph& graph, Losses* losses) {
  ScaleSet result = set;
  result.entries.clear();
  std::vector<std::string> used;
  for (const Node& node : graph.nodes()) {
    if (!IsLayer(graph, node)) continue;
    const ScaleEntry* input = Find(set, Subject::kTensor, graph.value(node.inputs[0]).name);
    if (input == nullptr) {
      ++(*losses)["layers left out: their input has no scale"];
      continue;
    }
    used.push_back(input->name);
    ScaleEntry entry = *input;
    entry.name = node.name;
    entry.subject = Subject::kLayerInput;
    result.entries.push_back(entry);
    const ScaleEntry* own = Find(set, Subject::kWeights, graph.value(node.inputs[1]).name);
    ScaleEntry weights{.name = node.name, .subject = Subject::kLayerWeights};
    weights.scales = own == nullptr ? ScalesOfWeights(graph, node) : SymmetricScalesOf(*own);
    weights.is_signed = true;
    result.entries.push_back(weights);
  }
  for (const ScaleEntry& entry : set.entries) {
    if (entry.subject != Subject::kTensor && entry.subject != Subject::kWeights) {
      result.entries.push_back(entry);
    } else if (entry.subject == Subject::kTensor &&
               std::find(used.begin(), used.end(), entry.name) == used.end()) {
      ++(*losses)["tensors left out: no convolution or matrix product reads them"];
    }
  }
  return result;
}

}  // namespace rshift
