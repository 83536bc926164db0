#include "pipeline/sensitivity.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <set>

#include "base/error.h"
#include "calibrate/fill_inputs.h"
#include "codegen/compile.h"
#include "codegen/container/container.h"
#include "codegen/passes/passes.h"
#include "pipeline/complete_tensors.h"
#include "pipeline/program_pair.h"
#include "pipeline/tensor_view.h"

namespace rshift {
namespace {

// --config takes names with these for wildcards.
bool IsPlain(const std::string& name) { return name.find_first_of("*?") == std::string::npos; }

// Runs the float program with one tensor at a time as the integer command alone makes it.
class Perturbation {
 public:
  Perturbation(const Deployment& deployment, const Dataset& samples)
      : samples_(samples),
        floating_(CompileObservable(deployment.floating, "float program")),
        integer_(CompileObservable(deployment.integer, "integer program")),
        float_session_(floating_, {.threads = 1}),
        integer_session_(integer_, {.threads = 1, .one_by_one = true}),
        completed_(CompletedTensors(integer_.image()).after),
        pair_of_(integer_.image().tensors.size(), -1) {
    const std::vector<int> written = LastWrites(floating_.image());
    for (const TensorPair& pair : PairTensors(integer_.image(), floating_.image())) {
      const bool integer = integer_.image().tensors[pair.integer].quantized;
      if (!pair.same_order || written[pair.floating] < 0) continue;
      pair_of_[pair.integer] = static_cast<int>(nodes_.size());
      nodes_.push_back({pair, written[pair.floating], integer && !pair.moves, {}});
    }
    // Last first: what a run leaves behind a node does not reach those before it.
    for (size_t n = 0; n < nodes_.size(); ++n) {
      if (nodes_[n].measured) order_.push_back(n);
    }
    std::stable_sort(order_.begin(), order_.end(), [&](size_t a, size_t b) {
      return nodes_[a].float_command > nodes_[b].float_command;
    });
  }

  std::vector<NodeSensitivity> Measure(const ProgressFunction& progress) {
    ProgressReport report(
        "sensitivity", samples_.size() * static_cast<int64_t>(std::max<size_t>(1, order_.size())),
        progress);
    std::vector<std::vector<OutputValues>> outputs(order_.size(), EmptyOutputs());
    std::vector<OutputValues> reference = EmptyOutputs();
    for (int64_t s = 0; s < samples_.size(); ++s) {
      RunAlone(samples_.Read(s));
      AppendOutputs(&reference);
      for (size_t i = 0; i < order_.size(); ++i) {
        const Node& node = nodes_[order_[i]];
        const std::span<std::byte> memory = WritableTensor(float_session_, node.pair.floating);
        StoreValues(floating_.image().tensors[node.pair.floating], node.alone, memory);
        float_session_.RunFrom(node.float_command + 1);
        AppendOutputs(&outputs[i]);
        report.Advance();
      }
    }
    std::vector<NodeSensitivity> result;
    for (size_t i = order_.size(); i-- > 0;) {  // program order
      const TensorPair& pair = nodes_[order_[i]].pair;
      result.push_back({integer_.image().tensors[pair.integer].name,
                        pair.command,
                        {},
                        Quality(CompareOutputs(outputs[i], reference))});
    }
    return result;
  }

 private:
  struct Node {
    TensorPair pair;
    int float_command = 0;  // that completes the tensor in the float program
    bool measured = false;  // it computes integers; else it only takes the float values
    std::vector<float> alone;
  };

  static std::vector<int> LastWrites(const ProgramImage& image) {
    std::vector<int> written(image.tensors.size(), -1);
    for (size_t c = 0; c < image.commands.size(); ++c)
      written[image.commands[c].Tensor(Field::kDst)] = static_cast<int>(c);
    return written;
  }

  // The float run, and what every command of the integer program makes of its values.
  void RunAlone(const Sample& sample) {
    FillInputs(floating_, float_session_, sample);
    FillInputs(integer_, integer_session_, sample);
    float_session_.Run();
    integer_session_.RunObserved([&](int command) {
      for (const int32_t tensor : completed_[static_cast<size_t>(command)]) {
        if (pair_of_[tensor] < 0) continue;
        Node& node = nodes_[pair_of_[tensor]];
        ReadPair(node.pair, integer_, integer_session_, floating_, float_session_, &values_);
        if (node.measured) node.alone = values_.integer;
        StoreValues(integer_.image().tensors[tensor], values_.floating,
                    WritableTensor(integer_session_, tensor));
      }
    });
  }

  std::vector<OutputValues> EmptyOutputs() const { return EmptyValues(floating_, compared_); }

  void AppendOutputs(std::vector<OutputValues>* outputs) const {
    for (size_t i = 0; i < outputs->size(); ++i) {
      const int32_t tensor = compared_[i].tensor;
      (*outputs)[i].samples.push_back(
          OnnxFloats(floating_.image().tensors[tensor], float_session_.Tensor(tensor)));
    }
  }

  const Dataset& samples_;
  Program floating_, integer_;
  const std::vector<ComparedTensor> compared_ = ComparedTensors(floating_);
  Session float_session_, integer_session_;
  std::vector<std::vector<int32_t>> completed_;  // by command of the integer program
  std::vector<int> pair_of_;                     // by its tensor: the node, -1 for none
  std::vector<Node> nodes_;
  std::vector<size_t> order_;  // of the measured nodes
  PairValues values_;
};

// The tensor itself, and those of nodes that are part of its command: the integer graph has none
// of their results. Not the QuantizeLinear of a model that brings its own: it has no settings.
std::vector<std::string> LayersOf(const Graph& floating, const Graph& integer,
                                  const std::string& tensor) {
  std::set<std::string> there;
  for (int i = 0; i < integer.value_count(); ++i) there.insert(integer.value(ValueId(i)).name);
  std::map<std::string, const Node*> makers;
  for (const Node& node : floating.nodes()) makers[floating.value(node.outputs[0]).name] = &node;
  std::vector<std::string> layers = {tensor};
  for (size_t i = 0; i < layers.size(); ++i) {
    const auto maker = makers.find(layers[i]);
    if (maker == makers.end()) continue;
    for (const ValueId input : maker->second->inputs) {
      if (!input.valid() || floating.value(input).is_constant()) continue;
      const std::string& name = floating.value(input).name;
      if (makers.contains(name) && !there.contains(name)) layers.push_back(name);
    }
  }
  std::erase_if(layers, [&](const std::string& name) {
    const auto maker = makers.find(name);
    return !IsPlain(name) || maker == makers.end() ||
           std::holds_alternative<Quantize>(maker->second->op) ||
           std::holds_alternative<Dequantize>(maker->second->op);
  });
  // By the model's names: the file serves programs of other equalizations, too.
  for (std::string& name : layers) name = ModelName(name);
  return layers;
}

// Deploys the model with some nodes in F32 and compares the outputs.
class LayerRanking {
 public:
  LayerRanking(const Deployment& deployment, const Dataset& samples, Sensitivity* found)
      : deployment_(deployment), samples_(samples), found_(*found) {
    const Program floating = Program::FromBytes(WriteContainer(Compile(deployment.model)),
                                                "float program", Limits::None());
    reference_ = RunOutputs(floating, samples, 1);
    SetBounds(deployment.model, reference_);
  }

  // Keeps these; whether that is enough.
  bool Try(std::vector<size_t> kept) {
    QuantizeOptions options = deployment_.options;
    for (const size_t i : kept) {
      for (const std::string& layer : found_.ranking[i].layers)
        options.config.layers[layer].float32 = true;
    }
    const QuantizeResult quantized =
        QuantizeGraph(deployment_.floating, deployment_.table, options);
    const Graph graph = RunTargetPasses(quantized.graph, options.target);
    const Program program =
        Program::FromBytes(WriteContainer(Compile(graph)), "trial program", Limits::None());
    const auto outputs = CompareOutputs(RunOutputs(program, samples_, 1), reference_);
    const SensitivityTrial trial{static_cast<int64_t>(kept.size()), Quality(outputs),
                                 Judge(outputs)};
    found_.trials.push_back(trial);
    const bool enough = trial.grade == Grade::kGood && trial.quality_db >= kEnoughDb;
    if (found_.enough && !enough) return false;
    found_.kept = std::move(kept);
    found_.result = trial;
    found_.enough = enough;
    return enough;
  }

  void TryWorst(size_t count) { Try(Worst(count)); }

  // None, 1, 2, 4, ... worst; all of them when nothing less is enough.
  void Double() {
    const size_t all = found_.ranking.size();
    if (Try({})) return;
    for (size_t count = 1; !Try(Worst(std::min(count, all))) && count < all;) count *= 2;
  }

  // Puts back what is not needed, the least sensitive first.
  void Prune(const ProgressFunction& progress) {
    if (!found_.enough) return;
    const std::vector<size_t> candidates = found_.kept;
    ProgressReport report("fewer F32 nodes", static_cast<int64_t>(candidates.size()), progress);
    for (size_t i = candidates.size(); i-- > 0;) {
      std::vector<size_t> fewer = found_.kept;
      std::erase(fewer, candidates[i]);
      if (!fewer.empty()) Try(std::move(fewer));
      report.Advance();
    }
  }

 private:
  static std::vector<size_t> Worst(size_t count) {
    std::vector<size_t> worst(count);
    std::iota(worst.begin(), worst.end(), size_t{0});
    return worst;
  }

  const Deployment& deployment_;
  const Dataset& samples_;
  Sensitivity& found_;
  std::vector<OutputValues> reference_;
};

}  // namespace

Sensitivity MeasureSensitivity(const Deployment& deployment, const Dataset& samples, int64_t keep,
                               const ProgressFunction& progress) {
  Sensitivity found;
  found.samples = samples.size();
  found.ranking = Perturbation(deployment, samples).Measure(progress);
  std::stable_sort(found.ranking.begin(), found.ranking.end(),
                   [](const NodeSensitivity& a, const NodeSensitivity& b) {
                     return a.quality_db < b.quality_db;
                   });
  for (NodeSensitivity& node : found.ranking)
    node.layers = LayersOf(deployment.floating, deployment.integer, node.tensor);
  std::erase_if(found.ranking, [](const NodeSensitivity& node) { return node.layers.empty(); });
  RSHIFT_REQUIRE(!found.ranking.empty(), ErrorCode::kInvalidInput,
                 "--sensitivity: the program has no integer nodes");
  LayerRanking ranking(deployment, samples, &found);
  if (keep > 0) {
    ranking.TryWorst(std::min(static_cast<size_t>(keep), found.ranking.size()));
  } else {
    ranking.Double();
    ranking.Prune(progress);
  }
  return found;
}

}  // namespace rshift
