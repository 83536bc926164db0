// A program run on every sample of a data set, for what looks at its tensors.
#ifndef RSHIFT_PIPELINE_SAMPLE_RUNS_H_
#define RSHIFT_PIPELINE_SAMPLE_RUNS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/progress.h"
#include "calibrate/data/dataset.h"
#include "isa/attributes.h"
#include "runtime/runtime.h"

namespace rshift {

// visit(session, sample) after a run on each sample, of several at a time; `title` names the
// progress. `program`: of CompileObservable.
void RunOnSamples(const Program& program, const Dataset& samples, int threads,
                  const std::string& title, const ProgressFunction& progress,
                  const std::function<void(const Session& session, size_t sample)>& visit);

// The same of two programs of one model: visit(session of a, session of b, sample).
void RunOnSamples(
    const Program& a, const Program& b, const Dataset& samples, int threads,
    const std::string& title, const ProgressFunction& progress,
    const std::function<void(const Session& a, const Session& b, size_t sample)>& visit);

// Where the program has these tensors, whole.
std::vector<int32_t> TensorPlaces(const Program& program, const std::vector<std::string>& names);

// Real numbers as integers of a type of 8 bits.
std::vector<std::byte> IntegersOf(DType dtype, const QuantParams& quant,
                                  std::span<const float> values);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_SAMPLE_RUNS_H_
