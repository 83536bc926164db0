// Which preprocessing a program carries.
#ifndef RSHIFT_PIPELINE_DEPLOY_PREPROCESS_H_
#define RSHIFT_PIPELINE_DEPLOY_PREPROCESS_H_

#include <string>
#include <vector>

#include "pipeline/preprocess_choice.h"
#include "quantize/ranges/table.h"

namespace rshift {

// The YAML text that goes into the program: what is chosen for these inputs, or the table's
// when nothing is given. The ranges of a table hold for its own preprocessing alone: throws
// kInvalidInput naming what differs when the choice is something else, unless `force`.
std::string ChoosePreprocess(const CalibrationTable& table, const std::string& table_path,
                             const PreprocessChoice& choice, const std::vector<InputSpec>& inputs,
                             bool force);

// One line for people: what the pixels of each input become. "" for "".
std::string DescribePreprocess(const std::string& text);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_DEPLOY_PREPROCESS_H_
