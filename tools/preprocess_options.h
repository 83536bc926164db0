// --preprocess and the flags that say the same in short, as every tool has them.
#ifndef RSHIFT_TOOLS_PREPROCESS_OPTIONS_H_
#define RSHIFT_TOOLS_PREPROCESS_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "pipeline/preprocess_choice.h"

namespace rshift {

struct PreprocessArguments : PreprocessChoice {
  // `meaning`: what --preprocess does in this tool. Returns the options, for excludes().
  std::vector<CLI::Option*> AddTo(CLI::App& app, const std::string& meaning);
};

}  // namespace rshift

#endif  // RSHIFT_TOOLS_PREPROCESS_OPTIONS_H_
