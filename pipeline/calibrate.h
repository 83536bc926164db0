// A trained model is measured on samples: all that model_calibrate does but the command line, the
// files it writes and --check. Prints nothing.
#ifndef RSHIFT_PIPELINE_CALIBRATE_H_
#define RSHIFT_PIPELINE_CALIBRATE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "calibrate/calibrate.h"
#include "calibrate/data/readable_samples.h"
#include "calibrate/range_evidence.h"
#include "pipeline/model_file.h"
#include "pipeline/preprocess_choice.h"
#include "quantize/equalize/choose.h"

namespace rshift {

inline constexpr int64_t kCalibrationSamples = 100;

// Messages call an option by its name on model_calibrate's command line. The samples are those of a
// data set, samples in memory, or what earlier runs have measured: one of the three.
struct CalibrateOptions {
  ModelFile model;
  ImportOptions import = {};
  MethodOptions method = {};
  // `every_method` fills CalibrateResult::tables. `automatic` makes the table by method auto
  // (pipeline/choose_ranges.h). In both, `method` still says the percentile.
  bool every_method = false, automatic = false;
  // "auto": channels are scaled where ChooseEqualization finds it worth while, by a few of the
  // samples. "weights": only where constants take the factors and no function gets a table for each
  // channel. "off". Or a table of the same model, whose equalization is taken.
  std::string equalize = "auto";

  std::vector<std::string> dataset = {};  // what OpenDataset takes
  // As the model takes them. A preprocessing beside them is recorded for those who run the program.
  std::vector<Sample> data = {};
  PreprocessChoice preprocess = {};
  // How many of the data set or of `data`, chosen by `seed`; 0: all.
  int64_t samples = kCalibrationSamples;
  uint64_t seed = 0;
  // Samples of `dataset` that cannot be read are left out, as if their files were not there, before
  // any are chosen: every sample is read once for it.
  bool skip_bad = false;
  std::string shard = {};  // "I/N": every N-th of the chosen from I; "": all of them
  // Every float run by portable steps (runtime/f32/portable.h). Statistics say it of themselves.
  bool portable = false;
  int threads = 0;  // samples in parallel; 0: DefaultThreads()
  // File to which partial statistics are saved now and then, "" for none. Stays when the work is
  // done; what is there is written over unless `resume` takes it up.
  std::string checkpoint = {};
  bool resume = false;

  bool report = false;  // fills CalibrateResult::report

  std::vector<FileOr<StatisticsFile>> statistics = {};  // instead of samples; merged
  bool partial = false;                                 // shards of them may be missing
};

// What a caller may hear of while Calibrate works. Whatever these throw ends it.
struct CalibrateEvents {
  std::function<void()> measuring = {};  // before the first sample runs
  std::function<bool()> interrupted =
      {};  // asked before each: true saves the checkpoint and throws
  ProgressFunction progress = {};
  // How many bytes of memory the process will have at its peak, before the first sample.
  std::function<void(uint64_t bytes)> memory = {};
  NoteFunction note = {};  // of what the options mean, and of samples that are left over
};

struct CalibrateResult {
  CalibrationTable table;                        // for Deploy; WriteTable makes a file of it
  std::vector<CalibrationTable> tables = {};     // of every method, in the order of methods.def
  StatisticsFile statistics;                     // from which any method makes a table later
  std::vector<ThinRange> thin_ranges;            // ranges of the table that rest on few samples
  std::vector<EqualizedTensors> equalized = {};  // what was chosen here; none when it was given
  std::vector<BadSample> bad = {};               // of skip_bad: what was left out
  std::string report = {};                       // an HTML page (pipeline/calibration_page.h)
  CollectTimes times = {};                       // of the samples that were run here
  uint64_t expected_memory = 0;                  // what CalibrateEvents::memory was told
};

// Throws UsageError for options out of range, and for those that contradict each other or that
// statistics have no use for. Calibrate asks it first of all.
void CheckOptions(const CalibrateOptions& options);

// Method auto reads some samples again: those of lowest content hash, of the data or, where
// statistics are given, of the files that they recorded; shards that are merged have recorded those
// of one run. The same table for the same options, whatever the number of threads. Throws Error;
// UsageError (pipeline/usage.h) for options that contradict each other.
CalibrateResult Calibrate(const CalibrateOptions& options, const CalibrateEvents& events = {});

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_CALIBRATE_H_
