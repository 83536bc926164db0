// model_calibrate --check: is the preprocessing the one that the model was trained with?
#ifndef RSHIFT_TOOLS_PREPROCESS_CHECK_H_
#define RSHIFT_TOOLS_PREPROCESS_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "calibrate/data/preprocess.h"
#include "graph/graph.h"

namespace rshift {

struct PreprocessCheckOptions {
  std::vector<std::string> dataset;
  std::string labels;   // "" or what ReadLabels takes
  std::string picture;  // "" or where the first input goes as .png
  int64_t samples = 100;
  uint64_t seed = 0;
  int threads = 0;  // 0: one
  bool json = false;
};

// Prints the results of every variant and the verdict. Throws kInvalidInput when another one is
// clearly better. `model`: as ImportOnnx gives it, before the passes.
void CheckPreprocess(const Graph& model, const Preprocess& preprocess,
                     const PreprocessCheckOptions& options);

}  // namespace rshift

#endif  // RSHIFT_TOOLS_PREPROCESS_CHECK_H_
