#include "pipeline/choose_integers.h"

#include <new>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "pipeline/caller_progress.h"
#include "runtime/onednn/float_library.h"

namespace rshift {
namespace {

class IntegerChooser {
 public:
  explicit IntegerChooser(const IntegerRequest& request) : request_(request) {}

  IntegerChoice Run() {
    const bool corrects = request_.bias_correction != BiasCorrectionMode::kOff;
    // Weights that nobody asked for are judged by the program that there would be without them.
    const bool judged_by_biases = request_.weights.rounding == WeightRounding::kAuto &&
                                  request_.bias_correction == BiasCorrectionMode::kAuto;
    BiasCorrection biases;
    WeightChoice weights;
    if (judged_by_biases) biases = CorrectFor({});
    if (request_.weights.any()) weights = ChooseBeside(biases.quality);
    if (!judged_by_biases || weights.report.kept) biases = CorrectFor(weights.weights);
    IntegerChoice choice{std::move(biases.weights), std::move(biases.biases)};
    choice.quality = std::move(biases.quality);
    if (request_.weights.any()) choice.weight_report = std::move(weights.report);
    if (corrects) choice.bias_report = std::move(biases.report);
    return choice;
  }

 private:
  WeightChoice ChooseBeside(const std::vector<double>& without) {
    WeightChoice choice;
    choice.report.methods = request_.weights;
    Measure(request_.weights.asked(), &choice.report.why_none, [&](const ProgressFunction& shown) {
      choice = ChooseWeights(request_.floating, request_.table, request_.options, Samples(),
                             request_.weights, request_.threads, shown, without);
    });
    return choice;
  }

  BiasCorrection CorrectFor(const NodeWeights& weights) {
    BiasCorrection correction{.biases = {}, .weights = weights, .quality = {}, .report = {}};
    correction.report.mode = request_.bias_correction;
    if (request_.bias_correction == BiasCorrectionMode::kOff) return correction;
    Measure(AsksForCorrection(request_.bias_correction), &correction.report.why_none,
            [&](const ProgressFunction& shown) {
              correction =
                  CorrectBiases(request_.floating, request_.table, request_.options, Samples(),
                                request_.bias_correction, request_.threads, shown, weights);
            });
    return correction;
  }

  // `why_none` is set where it cannot be measured and nobody asked for it.
  void Measure(bool asked, std::string* why_none,
               const std::function<void(const ProgressFunction&)>& measure) const {
    if (asked || request_.samples_given) return measure(request_.progress);
    CallerProgress progress(request_.progress);
    try {
      return measure(progress.function());
    } catch (const Error& error) {
      *why_none = error.what();
    } catch (const std::bad_alloc&) {
      *why_none = "not enough memory to measure it";
    }
    progress.Rethrow();
  }

  const Dataset& Samples() {
    RegisterFloatLibrary();
    if (!samples_) samples_ = request_.samples();
    return *samples_;
  }

  const IntegerRequest& request_;
  std::unique_ptr<Dataset> samples_;
};

}  // namespace

IntegerChoice ChooseIntegers(const IntegerRequest& request) {
  return IntegerChooser(request).Run();
}

}  // namespace rshift
