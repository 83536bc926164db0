// From a sample of a data set to the inputs of a program: for calibration, the runner and
// comparisons.
#ifndef RSHIFT_CALIBRATE_FILL_INPUTS_H_
#define RSHIFT_CALIBRATE_FILL_INPUTS_H_

#include "calibrate/data/dataset.h"
#include "runtime/runtime.h"

namespace rshift {

// Copies a sample, which has one array for each of the program's inputs in their order, into the
// session's inputs. Data sets deliver F32; integer and bool inputs take the values they can hold
// exactly, others throw kInvalidInput naming sample, input and value.
void FillInputs(const Program& program, Session& session, const Sample& sample);

}  // namespace rshift

#endif  // RSHIFT_CALIBRATE_FILL_INPUTS_H_
