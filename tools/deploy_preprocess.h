// Which preprocessing a program carries.
#ifndef RSHIFT_TOOLS_DEPLOY_PREPROCESS_H_
#define RSHIFT_TOOLS_DEPLOY_PREPROCESS_H_

#include <string>

#include "calibrate/ranges/table.h"

namespace rshift {

// The YAML text that goes into the program: of the file, or the table's when `file` is "". The
// ranges of a table hold for its own preprocessing alone: throws kInvalidInput naming what differs
// when a file says something else, unless `force`.
std::string ChoosePreprocess(const CalibrationTable& table, const std::string& table_path,
                             const std::string& file, bool force);

// One line for people: what the pixels of each input become. "" for "".
std::string DescribePreprocess(const std::string& text);

}  // namespace rshift

#endif  // RSHIFT_TOOLS_DEPLOY_PREPROCESS_H_
