// The samples that biases are corrected on and integers of weights are chosen for.
#ifndef RSHIFT_PIPELINE_CORRECTION_SAMPLES_H_
#define RSHIFT_PIPELINE_CORRECTION_SAMPLES_H_

#include <memory>
#include <string>
#include <vector>

#include "calibrate/data/dataset.h"
#include "pipeline/deploy_options.h"
#include "quantize/ranges/table.h"

namespace rshift {

// Of --correction-data, else all that the table recorded. `preprocess`: YAML text for the files.
// Throws kInvalidInput when there are none, saying why, and where some could come from when an
// option asks for them.
std::unique_ptr<Dataset> ReadCorrectionSamples(
    const DeployOptions& options, const CalibrationTable& table, const std::string& table_path,
    const std::vector<InputSpec>& inputs, const std::string& preprocess, const NoteFunction& note);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_CORRECTION_SAMPLES_H_
