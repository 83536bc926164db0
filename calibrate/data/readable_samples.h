// Data sets with damaged files: those samples that can be read.
#ifndef RSHIFT_CALIBRATE_DATA_READABLE_SAMPLES_H_
#define RSHIFT_CALIBRATE_DATA_READABLE_SAMPLES_H_

#include <memory>
#include <string>
#include <vector>

#include "calibrate/data/dataset.h"

namespace rshift {

// At most one sample in so many may be bad: more is not damage, it is a wrong data set.
inline constexpr int64_t kGoodForOneBad = 10;

struct BadSample {
  int64_t index = 0;  // in the data set that has it
  std::string name, error;
};

// `dataset` without the samples of these indices, ascending: as if their files were not there.
std::unique_ptr<Dataset> WithoutSamples(std::unique_ptr<Dataset> dataset,
                                        const std::vector<BadSample>& bad);

// Throws kInvalidInput where more than one of kGoodForOneBad of `total` samples is bad.
void RequireFewBad(const std::vector<BadSample>& bad, int64_t total);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_DATA_READABLE_SAMPLES_H_
