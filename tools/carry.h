// model_runner --carry: inputs that are outputs of the run before, the states of streaming and
// recurrent networks.
#ifndef RSHIFT_TOOLS_CARRY_H_
#define RSHIFT_TOOLS_CARRY_H_

#include <string>
#include <vector>

#include "calibrate/data/dataset.h"
#include "codegen/container/image.h"

namespace rshift {

struct CarriedInput {
  size_t input = 0, output = 0;  // places among the program's
  std::vector<float> value;      // of the next run, as stored; zeros for the first
};

// INPUT=OUTPUT for each, or auto: every input X that has an output X/next beside it. Throws
// kInvalidInput where there is none, and where the two differ in shape, type or scale. Sorted by
// input.
std::vector<CarriedInput> ReadCarried(const ProgramImage& image,
                                      const std::vector<std::string>& texts);

// A sample of the other inputs with the carried ones in their places.
Sample WithCarried(Sample sample, const std::vector<CarriedInput>& carried);

// All outputs of a run, integers as they are.
void Carry(const std::vector<NumpyArray>& raw_outputs, std::vector<CarriedInput>& carried);

}  // namespace rshift

#endif  // RSHIFT_TOOLS_CARRY_H_
