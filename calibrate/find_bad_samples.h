// Which samples of a data set cannot be read, for --skip-bad.
#ifndef RSHIFT_CALIBRATE_FIND_BAD_SAMPLES_H_
#define RSHIFT_CALIBRATE_FIND_BAD_SAMPLES_H_

#include <functional>
#include <vector>

#include "base/progress.h"
#include "calibrate/data/readable_samples.h"

namespace rshift {

struct FindBadOptions {
  int threads = 0;  // 0: DefaultThreads()
  ProgressFunction progress = {};
  std::function<bool()> interrupted = {};
};

// Reads every sample once. Those that their readers refuse as damaged or unfit (kInvalidInput), in
// ascending order; every other error is thrown. The same for any number of threads.
std::vector<BadSample> FindBadSamples(const Dataset& dataset, const FindBadOptions& options);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_FIND_BAD_SAMPLES_H_
