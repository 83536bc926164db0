#include "pipeline/correction_samples.h"

#include <optional>
#include <utility>

#include "base/error.h"
#include "pipeline/check_samples.h"

namespace rshift {
namespace {

// Some samples of a data set, read when they are asked for.
class Chosen : public Dataset {
 public:
  Chosen(std::unique_ptr<Dataset> all, std::vector<int64_t> indices)
      : all_(std::move(all)), indices_(std::move(indices)) {}
  int64_t size() const override { return static_cast<int64_t>(indices_.size()); }
  std::string name(int64_t index) const override { return all_->name(At(index)); }
  std::vector<OwnClass> Classes(int64_t index) const override { return all_->Classes(At(index)); }
  std::vector<std::string> ClassFolders() const override { return all_->ClassFolders(); }
  Sample Read(int64_t index) const override { return all_->Read(At(index)); }

 private:
  int64_t At(int64_t index) const { return indices_.at(static_cast<size_t>(index)); }
  std::unique_ptr<Dataset> all_;
  std::vector<int64_t> indices_;
};

}  // namespace

std::unique_ptr<Dataset> ReadCorrectionSamples(
    const DeployOptions& options, const CalibrationTable& table, const std::string& table_path,
    const std::vector<InputSpec>& inputs, const std::string& preprocess, const NoteFunction& note) {
  if (!options.correction_values.empty())
    return std::make_unique<SampleList>(options.correction_values);
  if (!options.correction_data.empty()) {
    std::optional<Preprocess> recipe;
    if (!preprocess.empty()) recipe = ReadPreprocess(preprocess, "preprocess");
    std::unique_ptr<Dataset> all = OpenDataset(options.correction_data, inputs, recipe, note);
    std::vector<int64_t> indices =
        ChooseSamples(all->size(), options.correction_samples, /*seed=*/0);
    return std::make_unique<Chosen>(std::move(all), std::move(indices));
  }
  CheckSamples recorded =
      ReadCheckSamples(table, table_path, inputs, static_cast<int64_t>(kMaxRecordedSamples), note);
  const char* option = options.automatic                                   ? "--auto"
                       : AsksForCorrection(options.bias_correction)        ? "--bias-correction"
                       : options.weights.rounding == WeightRounding::kGptq ? "--weight-rounding"
                       : options.weights.clipping != WeightClipping::kOff  ? "--weight-clipping"
                                                                           : nullptr;
  RSHIFT_REQUIRE(option != nullptr || recorded.samples.size() > 0, ErrorCode::kInvalidInput,
                 recorded.why_none);
  RSHIFT_REQUIRE(recorded.samples.size() > 0, ErrorCode::kInvalidInput, option,
                 ": there are no samples to measure on: ", recorded.why_none,
                 "; give some with --correction-data, or leave ", option, " out");
  return std::make_unique<SampleList>(std::move(recorded.samples));
}

}  // namespace rshift
