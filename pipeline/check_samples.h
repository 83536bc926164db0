// The samples a deployed program is checked on: those that its calibration table recorded.
#ifndef RSHIFT_PIPELINE_CHECK_SAMPLES_H_
#define RSHIFT_PIPELINE_CHECK_SAMPLES_H_

#include <functional>
#include <string>
#include <vector>

#include "calibrate/data/dataset.h"
#include "quantize/ranges/table.h"

namespace rshift {

// A few samples in memory as a data set.
class SampleList : public Dataset {
 public:
  explicit SampleList(std::vector<Sample> samples = {}) : samples_(std::move(samples)) {}
  int64_t size() const override { return static_cast<int64_t>(samples_.size()); }
  std::string name(int64_t index) const override { return at(index).name; }
  Sample Read(int64_t index) const override { return at(index); }

 private:
  const Sample& at(int64_t index) const { return samples_.at(static_cast<size_t>(index)); }
  std::vector<Sample> samples_;
};

// Throws kInvalidInput naming the sample that has not one array of the right size for each input,
// and the first value that is NaN or infinite.
void CheckFits(const std::vector<Sample>& samples, const std::vector<InputSpec>& inputs);

struct CheckSamples {
  SampleList samples;
  std::string why_none;     // of an empty list: what is missing, for people
  std::string first_error;  // of the first that cannot be read
};

// Samples that can be read again, as their table or statistics (`where`) have them.
struct RecordedSamples {
  std::vector<RecordedSample> samples;
  std::string preprocess;  // YAML text, "" when none
  std::string where;
};

// Calls visit(place, sample) for each that can still be read, in their order, until it returns
// false. A relative path is looked up as it is, then in the folder of `where` and its parents. A
// sample whose content hash differs is not taken. Returns the error of the first that cannot be
// read, "" when all can.
std::string VisitRecorded(const RecordedSamples& recorded, const std::vector<InputSpec>& inputs,
                          const NoteFunction& note,
                          const std::function<bool(size_t, Sample)>& visit);

// The first `count` recorded samples that VisitRecorded can read, prepared as the table says.
CheckSamples ReadCheckSamples(const CalibrationTable& table, const std::string& table_path,
                              const std::vector<InputSpec>& inputs, int64_t count,
                              const NoteFunction& note = {});

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_CHECK_SAMPLES_H_
