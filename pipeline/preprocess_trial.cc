#include "pipeline/preprocess_trial.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/error.h"
#include "calibrate/preprocess_variants.h"
#include "runtime/tensor_values.h"

namespace rshift {
namespace {

constexpr int64_t kMaxClasses = 1 << 16;
// How much nearer to training another way must be, at least.
constexpr double kNormMargin = 0.2;

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
    std::optional<NormTrial> norm;
    if (norm_) norm.emplace(*norm_, options_.threads);
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
      const std::vector<float> scores = RunTrial(program_, session_, sample);
      if (IsClassVector(out)) confidence += LargestProbability(scores);
      const auto best = std::max_element(scores.begin(), scores.end()) - scores.begin();
      for (size_t place = 0; place < 3 && !labels.empty(); ++place) {
        const int64_t label = labels[static_cast<size_t>(index)] + options_.label_offset;
        result.hits[place] += best == label + static_cast<int64_t>(place) - 1;
      }
      if (norm) norm->Add(sample);
    }
    result.mean = sum / count;
    if (norm) result.norm_distance = norm->Distance();
    if (IsClassVector(out)) result.confidence = confidence / static_cast<double>(chosen.size());
    return result;
  }

 private:
  const PreprocessTrialOptions& options_;
  Program program_;
  Session session_;
  std::optional<FirstNorm> norm_;
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

double Hundredths(double value) { return std::round(100 * value) / 100; }

std::optional<BetterPreprocess> BetterByNorm(const PreprocessResults& results) {
  const PreprocessResult& given = results.variants[0];
  if (!given.norm_distance) return std::nullopt;
  const auto best = std::min_element(
      results.variants.begin(), results.variants.end(),
      [](const auto& a, const auto& b) { return *a.norm_distance < *b.norm_distance; });
  const double least = *best->norm_distance;
  if (*given.norm_distance < 2 * least || *given.norm_distance < least + kNormMargin)
    return std::nullopt;
  return BetterPreprocess{
      static_cast<size_t>(best - results.variants.begin()), 0,
      Cat("the first BatchNorm sees what it was trained on (distance ", Hundredths(least),
          " instead of ", Hundredths(*given.norm_distance), ")")};
}

}  // namespace

size_t PreprocessedInput(const std::vector<InputSpec>& inputs, const Preprocess& preprocess) {
  const auto place = std::find_if(inputs.begin(), inputs.end(), [&](const InputSpec& spec) {
    return spec.name == preprocess.inputs[0].name;
  });
  RSHIFT_REQUIRE(place != inputs.end(), ErrorCode::kInvalidInput, "the model has no input '",
                 preprocess.inputs[0].name, "' that the preprocessing file is for");
  RSHIFT_REQUIRE(!preprocess.inputs[0].audio, ErrorCode::kInvalidInput, "input '",
                 preprocess.inputs[0].name,
                 "' takes sounds: the other ways that are tried here are those of images");
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

std::string SuspectPreprocess(const FirstNorm& norm, const Dataset& given,
                              const std::vector<int64_t>& samples, const Preprocess& preprocess,
                              const PreprocessTrialOptions& options) {
  const size_t count = std::min<size_t>(samples.size(), static_cast<size_t>(options.samples));
  const std::vector<int64_t> tried(samples.begin(),
                                   samples.begin() + static_cast<std::ptrdiff_t>(count));
  const std::vector<InputSpec> specs = norm.Inputs();
  PreprocessResults results{.variants = {}, .samples = static_cast<int64_t>(count)};
  NormTrial trial(norm, options.threads);
  for (const PreprocessVariant& variant : VariantsOf(preprocess.inputs[0])) {
    std::unique_ptr<Dataset> other;
    if (!results.variants.empty()) {
      Preprocess changed = preprocess;
      changed.inputs[0] = variant.recipe;
      other = OpenDataset(options.dataset, specs, changed, {});
    }
    for (const int64_t index : tried) trial.Add((other ? *other : given).Read(index));
    PreprocessResult result;
    result.variant = variant.name;
    result.norm_distance = trial.Distance();
    results.variants.push_back(std::move(result));
    // Nothing can be better by the margin.
    if (*results.variants[0].norm_distance < kNormMargin) return "";
  }
  const std::optional<BetterPreprocess> better = FindBetterPreprocess(results);
  if (!better) return "";
  return Cat("the preprocessing looks wrong: better is '",
             results.variants[better->variant].variant, "': ", better->why,
             "; --check shows all that was tried");
}

int64_t HitMargin(const PreprocessResults& results) {
  return std::max<int64_t>(1, results.samples / 10);
}

std::optional<BetterPreprocess> FindBetterPreprocess(const PreprocessResults& results) {
  return results.labels ? BetterByLabels(results) : BetterByNorm(results);
}

}  // namespace rshift
