// The command line of model_calibrate.
#ifndef RSHIFT_TOOLS_CALIBRATE_ARGUMENTS_H_
#define RSHIFT_TOOLS_CALIBRATE_ARGUMENTS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/calibrate.h"
#include "pipeline/choose_ranges.h"
#include "tools/preprocess_options.h"
#include "tools/tool_main.h"

namespace rshift {

inline constexpr std::string_view kEveryMethod = "all";

struct CalibrateArguments {
  ModelArguments model;
  std::vector<std::string> dataset, from_statistics;
  PreprocessArguments preprocess;
  std::string output, method = "kl", statistics, shard, labels, picture, report, format = "rshift";
  int64_t samples = 100;
  uint64_t seed = 0;
  std::optional<double> percentile;
  std::optional<std::string> equalize;  // as given
  int threads = 0;
  bool resume = false, restart = false, partial = false, check = false, json = false,
       skip_bad = false, portable = false;

  void AddTo(CLI::App& app);
  // Where an interrupted run leaves what it has measured.
  std::string Checkpoint() const { return output + ".partial.stats"; }
  // --method all: a table for each method, at TablePath(method).
  bool every_method() const { return method == kEveryMethod; }
  bool automatic() const { return method == kAutoMethod; }
  // "net.table.yaml" -> "net.table.kl.yaml".
  std::string TablePath(std::string_view of_method) const;
  RunPaths Paths() const;
  // Without `import`: CheckPaths comes before that is read.
  CalibrateOptions Options() const;
};

}  // namespace rshift

#endif  // RSHIFT_TOOLS_CALIBRATE_ARGUMENTS_H_
