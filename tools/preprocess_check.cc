#include "tools/preprocess_check.h"

#include <cstdio>

#include "base/error.h"
#include "calibrate/input_picture.h"
#include "pipeline/preprocess_choice.h"
#include "tools/preprocess_result.h"
#include "tools/print.h"
#include "tools/tool_main.h"

namespace rshift {

void CheckPreprocess(const Graph& model, const Preprocess& preprocess,
                     const PreprocessCheckOptions& options) {
  const std::vector<InputSpec> specs = InputSpecs(model);
  const size_t input = PreprocessedInput(specs, preprocess);
  if (!options.picture.empty()) {
    const Sample first = OpenDataset(options.dataset, specs, preprocess)->Read(0);
    WritePicture(options.picture, first.inputs[input], specs[input].shape, preprocess.inputs[0]);
  }
  const auto open = [&](const Preprocess& with) {
    return OpenDataset(options.dataset, specs, with);
  };
  RSHIFT_REQUIRE(PreparesSamples(open, preprocess), ErrorCode::kInvalidInput,
                 "--check: the samples are arrays, which are taken as they are, so that no "
                 "preprocessing changes them; give pictures or sounds");
  const PreprocessResults results = TryPreprocesses(model, preprocess,
                                                    {.dataset = options.dataset,
                                                     .labels = options.labels,
                                                     .samples = options.samples,
                                                     .seed = options.seed,
                                                     .threads = options.threads,
                                                     .note = PrintNote});
  const std::string better = BetterText(results);
  if (options.json)
    PrintJson(PreprocessJson(results, better));
  else
    PrintPreprocess(results);
  RSHIFT_REQUIRE(better.empty(), ErrorCode::kInvalidInput,
                 "the preprocessing looks wrong; better is ", better);
  if (!options.json) std::printf("%s\n", PreprocessHint(results).c_str());
}

}  // namespace rshift
