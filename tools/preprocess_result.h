// What model_calibrate --check finds out and how it is told.
#ifndef RSHIFT_TOOLS_PREPROCESS_RESULT_H_
#define RSHIFT_TOOLS_PREPROCESS_RESULT_H_

#include <nlohmann/json.hpp>
#include <string>

#include "pipeline/preprocess_trial.h"

namespace rshift {

// "" when nothing is clearly better; else what is, and why.
std::string BetterText(const PreprocessResults& results);
// A line for each way of preparing the images, on the standard output.
void PrintPreprocess(const PreprocessResults& results);
nlohmann::json PreprocessJson(const PreprocessResults& results, const std::string& better);
// When nothing is clearly better: how much that is worth.
std::string PreprocessHint(const PreprocessResults& results);

}  // namespace rshift

#endif  // RSHIFT_TOOLS_PREPROCESS_RESULT_H_
