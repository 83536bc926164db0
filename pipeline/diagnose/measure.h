// Measures what the rules of diagnose judge by.
#ifndef RSHIFT_PIPELINE_DIAGNOSE_MEASURE_H_
#define RSHIFT_PIPELINE_DIAGNOSE_MEASURE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/progress.h"
#include "calibrate/data/dataset.h"
#include "graph/import.h"
#include "pipeline/diagnose/facts.h"
#include "pipeline/preprocess_choice.h"
#include "quantize/ranges/ranges.h"

namespace rshift {

inline constexpr int64_t kDiagnoseSamples = 32;
inline constexpr int64_t kMostDiagnoseSamples = 1000;  // they are all held in memory

struct DiagnoseOptions {
  std::string model;
  ImportOptions import = {};
  std::vector<std::string> dataset = {};
  PreprocessChoice preprocess = {};  // default: the table's
  std::string labels = {};           // "" or what ReadLabels takes
  int64_t label_offset = 0;          // added to every label
  std::string calibration = {};      // a table; "": one is made, as model_calibrate does by default
  QuantMode mode = QuantMode::kSymmetric;
  int64_t samples = kDiagnoseSamples;
  uint64_t seed = 0;
  int threads = 0;  // 0: DefaultThreads()
};

// Throws UsageError (pipeline/usage.h) for options out of range or that contradict each other.
void CheckOptions(const DiagnoseOptions& options);
// Throws Error where the model cannot be imported, calibrated or deployed. The same facts for the
// same options, whatever the number of threads.
DiagnoseFacts MeasureFacts(const DiagnoseOptions& options, const ProgressFunction& progress = {},
                           const NoteFunction& note = {});

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_DIAGNOSE_MEASURE_H_
