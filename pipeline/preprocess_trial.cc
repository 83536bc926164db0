#include "pipeline/preprocess_trial.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/error.h"
#include "calibrate/fill_inputs.h"
#include "calibrate/preprocess_variants.h"
#include "codegen/compile.h"
#include "codegen/container/container.h"
#include "graph/passes/passes.h"
#include "runtime/runtime.h"
#include "runtime/tensor_values.h"

namespace rshift {
namespace {

constexpr int64_t kMaxClasses = 1 << 16;

Program CompileTrial(const Graph& model) {
  return Program::FromBytes(WriteContainer(Compile(RunPasses(model))), "float program",
                            Limits::None());
}

// The model up to its first Conv, and what the BatchNorm behind it has seen in training.
struct FirstNorm {
  Graph graph;
  std::vector<float> mean, variance;
};

std::optional<FirstNorm> FindFirstNorm(const Graph& model) {
  const std::vector<NodeId> producers = model.Producers();
  for (const Node& node : model.nodes()) {
    if (!std::holds_alternative<BatchNorm>(node.op)) continue;
    const NodeId conv = producers[node.inputs[0].index()];
    if (!conv.valid() || !std::holds_alternative<Conv>(model.node(conv).op)) continue;
    const ValueId read = model.node(conv).inputs[0];
    if (std::find(model.inputs.begin(), model.inputs.end(), read) == model.inputs.end()) continue;
    const Value &mean = model.value(node.inputs[3]), &variance = model.value(node.inputs[4]);
    if (!mean.is_constant() || !variance.is_constant()) return std::nullopt;
    const auto means = mean.constant->As<float>(), variances = variance.constant->As<float>();
    FirstNorm norm{model, {means.begin(), means.end()}, {variances.begin(), variances.end()}};
    norm.graph.outputs = {node.inputs[0]};
    norm.graph.output_names = {model.value(node.inputs[0]).name};
    norm.graph.RemoveUnused();
    return norm;
  }
  return std::nullopt;
}

// Sums over samples of one convolution's output, by channel (ONNX order: dimension 1).
class ChannelMoments {
 public:
  void Add(const std::vector<float>& values, const Shape& shape) {
    const auto channels = static_cast<size_t>(shape[1]);
    const size_t inner = values.size() / static_cast<size_t>(shape[0]) / channels;
    sum_.resize(channels);
    squares_.resize(channels);
    for (size_t i = 0; i < values.size(); ++i) {
      const double v = values[i];
      sum_[i / inner % channels] += v;
      squares_[i / inner % channels] += v * v;
    }
    count_ += static_cast<double>(values.size() / channels);
  }
  double Distance(const FirstNorm& norm) const {
    constexpr double kLeast = 1e-12;
    double distance = 0;
    for (size_t c = 0; c < sum_.size(); ++c) {
      const double mean = sum_[c] / count_;
      const double variance = std::max(kLeast, squares_[c] / count_ - mean * mean);
      const double trained = std::max<double>(kLeast, norm.variance[c]);
      distance += std::min(10.0, std::fabs(mean - norm.mean[c]) / std::sqrt(trained)) +
                  std::min(10.0, std::fabs(0.5 * std::log(variance / trained)));
    }
    return distance / static_cast<double>(sum_.size());
  }

 private:
  std::vector<double> sum_, squares_;
  double count_ = 0;
};

// Scores of one class vector; nothing when the output is something else.
bool IsClassVector(const Shape& shape) {
  const int64_t elements = NumElements(shape);
  const bool one_axis =
      std::count_if(shape.begin(), shape.end(), [](int64_t d) { return d > 1; }) == 1;
  return one_axis && elements <= kMaxClasses;
}

double LargestProbability(const std::vector<float>& scores) {
  const auto [least, largest] = std::minmax_element(scores.begin(), scores.end());
  double sum = 0, exponentials = 0;
  for (const float s : scores) {
    sum += s;
    exponentials += std::exp(static_cast<double>(s - *largest));
  }
  const bool probabilities = *least >= 0 && std::fabs(sum - 1) < 0.01;
  return probabilities ? *largest : 1 / exponentials;
}

// The model, ready to run with any preprocessing.
class PreprocessTrial {
 public:
  PreprocessTrial(const Graph& model, const PreprocessTrialOptions& options)
      : options_(options),
        program_(CompileTrial(model)),
        session_(program_, {.threads = std::max(1, options.threads)}),
        norm_(FindFirstNorm(model)) {
    if (norm_) norm_program_ = CompileTrial(norm_->graph);
    if (norm_)
      norm_session_.emplace(*norm_program_,
                            SessionOptions{.threads = std::max(1, options.threads)});
    for (const ValueId id : model.inputs)
      specs_.push_back({model.value(id).name, model.value(id).shape});
  }

  std::unique_ptr<Dataset> Open(const Preprocess& preprocess) const {
    return OpenDataset(options_.dataset, specs_, preprocess, options_.note);
  }
  const std::vector<InputSpec>& specs() const { return specs_; }

  // `input`: whose values are described.
  PreprocessResult Run(const Preprocess& preprocess, size_t input, int64_t* samples) {
    const std::unique_ptr<Dataset> dataset = Open(preprocess);
    std::vector<int64_t> labels;
    if (!options_.labels.empty()) labels = ReadLabels(options_.labels, *dataset);
    const auto chosen = ChooseSamples(dataset->size(), options_.samples, options_.seed);
    *samples = static_cast<int64_t>(chosen.size());
    PreprocessResult result;
    ChannelMoments moments;
    double sum = 0, count = 0, confidence = 0;
    const Shape out = OnnxShape(program_.image().tensors[program_.image().outputs[0].tensor]);
    for (const int64_t index : chosen) {
      const Sample sample = dataset->Read(index);
      const auto [low, high] =
          std::minmax_element(sample.inputs[input].begin(), sample.inputs[input].end());
      result.low = count == 0 ? *low : std::min(result.low, *low);
      result.high = count == 0 ? *high : std::max(result.high, *high);
      for (const float v : sample.inputs[input]) sum += v;
      count += static_cast<double>(sample.inputs[input].size());
      const std::vector<float> scores = RunOnce(program_, session_, sample);
      if (IsClassVector(out)) confidence += LargestProbability(scores);
      const auto best = std::max_element(scores.begin(), scores.end()) - scores.begin();
      for (size_t place = 0; place < 3 && !labels.empty(); ++place) {
        const int64_t label = labels[static_cast<size_t>(index)] + options_.label_offset;
        result.hits[place] += best == label + static_cast<int64_t>(place) - 1;
      }
      if (norm_) moments.Add(RunOnce(*norm_program_, *norm_session_, sample), NormShape());
    }
    result.mean = sum / count;
    if (norm_) result.norm_distance = moments.Distance(*norm_);
    if (IsClassVector(out)) result.confidence = confidence / static_cast<double>(chosen.size());
    return result;
  }

 private:
  static std::vector<float> RunOnce(const Program& program, Session& session,
                                    const Sample& sample) {
    FillInputs(program, session, sample);
    session.Run();
    return OnnxFloats(program.image().tensors[program.image().outputs[0].tensor],
                      session.Output(0));
  }
  Shape NormShape() const {
    return OnnxShape(norm_program_->image().tensors[norm_program_->image().outputs[0].tensor]);
  }

  const PreprocessTrialOptions& options_;
  Program program_;
  Session session_;
  std::optional<FirstNorm> norm_;
  std::optional<Program> norm_program_;
  std::optional<Session> norm_session_;
  std::vector<InputSpec> specs_;
};

int64_t RoundedPercent(int64_t part, int64_t whole) {
  return std::lround(100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::optional<BetterPreprocess> BetterByLabels(const PreprocessResults& results) {
  const int64_t given = results.variants[0].hits[1];
  int64_t most = given;
  BetterPreprocess better;
  for (size_t v = 0; v < results.variants.size(); ++v) {
    for (size_t o = 0; o < 3; ++o) {
      if (results.variants[v].hits[o] <= most) continue;
      most = results.variants[v].hits[o];
      better = {v, static_cast<int>(o) - 1, ""};
    }
  }
  if (most - given <= HitMargin(results)) return std::nullopt;
  better.why = Cat("top-1 ", RoundedPercent(most, results.samples), " % instead of ",
                   RoundedPercent(given, results.samples), " %");
  return better;
}

std::optional<BetterPreprocess> BetterByNorm(const PreprocessResults& results) {
  const PreprocessResult& given = results.variants[0];
  if (!given.norm_distance) return std::nullopt;
  const auto best = std::min_element(
      results.variants.begin(), results.variants.end(),
      [](const auto& a, const auto& b) { return *a.norm_distance < *b.norm_distance; });
  const double least = *best->norm_distance;
  if (*given.norm_distance < 2 * least || *given.norm_distance < least + 0.2) return std::nullopt;
  return BetterPreprocess{static_cast<size_t>(best - results.variants.begin()), 0,
                          Cat("the first BatchNorm sees what it was trained on (distance ", least,
                              " instead of ", *given.norm_distance, ")")};
}

}  // namespace

size_t PreprocessedInput(const std::vector<InputSpec>& inputs, const Preprocess& preprocess) {
  const auto place = std::find_if(inputs.begin(), inputs.end(), [&](const InputSpec& spec) {
    return spec.name == preprocess.inputs[0].name;
  });
  RSHIFT_REQUIRE(place != inputs.end(), ErrorCode::kInvalidInput, "the model has no input '",
                 preprocess.inputs[0].name, "' that the preprocessing file is for");
  return static_cast<size_t>(place - inputs.begin());
}

PreprocessResults TryPreprocesses(const Graph& model, const Preprocess& preprocess,
                                  const PreprocessTrialOptions& options) {
  PreprocessTrial trial(model, options);
  const size_t input = PreprocessedInput(trial.specs(), preprocess);
  PreprocessResults results;
  results.labels = !options.labels.empty();
  for (const PreprocessVariant& variant : VariantsOf(preprocess.inputs[0])) {
    if (options.only_if_judged && !results.variants.empty() && !results.labels &&
        !results.variants[0].norm_distance)
      break;
    Preprocess changed = preprocess;
    changed.inputs[0] = variant.recipe;
    results.variants.push_back(trial.Run(changed, input, &results.samples));
    results.variants.back().variant = variant.name;
    results.variants.back().recipe = variant.recipe;
  }
  return results;
}

int64_t HitMargin(const PreprocessResults& results) {
  return std::max<int64_t>(1, results.samples / 10);
}

std::optional<BetterPreprocess> FindBetterPreprocess(const PreprocessResults& results) {
  return results.labels ? BetterByLabels(results) : BetterByNorm(results);
}

}  // namespace rshift
