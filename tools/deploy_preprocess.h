// Which preprocessing a program carries.
#ifndef RSHIFT_TOOLS_DEPLOY_PREPROCESS_H_
#define RSHIFT_TOOLS_DEPLOY_PREPROCESS_H_

#include <string>
#include <vector>

#include "quantize/ranges/table.h"
#include "tools/preprocess_options.h"

namespace rshift {

// The YAML text that goes into the program: what the arguments say for these inputs, or the table's
// when nothing is given. The ranges of a table hold for its own preprocessing alone: throws
// kInvalidInput naming what differs when the arguments say something else, unless `force`.
std::string ChoosePreprocess(const CalibrationTable& table, const std::string& table_path,
                             const PreprocessArguments& arguments,
                             const std::vector<InputSpec>& inputs, bool force);

// One line for people: what the pixels of each input become. "" for "".
std::string DescribePreprocess(const std::string& text);

}  // namespace rshift

#endif  // RSHIFT_TOOLS_DEPLOY_PREPROCESS_H_
