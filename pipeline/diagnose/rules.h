// The rules of diagnose: what is looked for in the facts, beyond which limit it is a finding, what
// mends it. docs/diagnose.md has the same table.
#ifndef RSHIFT_PIPELINE_DIAGNOSE_RULES_H_
#define RSHIFT_PIPELINE_DIAGNOSE_RULES_H_

#include <string>
#include <vector>

#include "pipeline/diagnose/facts.h"

namespace rshift {

// What the commands that a finding offers are put together from.
struct DiagnoseCommands {
  std::string model = {};    // as given, quoted for a shell
  std::string dataset = {};  // "--dataset photos/"
  std::string recipe = {};   // "--preprocess net.yaml --resize 256": all but the numbers of pixels
  std::string pixels = {};   // "--mean 127.5": what a better preprocessing takes the place of
  std::string labels = {};   // "--labels labels.txt"; "" when there are none
  std::string table = {};    // as given
  std::string mode = {};     // "symmetric"
  bool table_given = false;

  // "model_tool diagnose net.onnx --dataset photos/ --labels labels.txt <options>"
  std::string Diagnose(const std::string& options) const;
  // "model_calibrate net.onnx --dataset photos/ <options> -o net.table.yaml"
  std::string Calibrate(const std::string& options) const;
  // The same with other numbers of pixels.
  std::string CalibrateWith(const std::string& other_pixels) const;
  // "model_deploy net.onnx --calibration net.table.yaml --mode symmetric <options> -o net.rshift";
  // where the table does not exist yet, behind the command that makes it.
  std::string Deploy(const std::string& options) const;
};

struct Finding {
  std::string where;    // "tensor 'conv1' of Conv 'conv1_node'", "weight 'w' of ..."
  std::string tensor;   // its name alone; "" where there is none
  std::string figure;   // what was measured beside its limit
  std::string command;  // what to try
};

using FindFunction = std::vector<Finding> (*)(const DiagnoseFacts&, const DiagnoseCommands&);

struct Rule {
  const char* name;
  const char* trigger;
  std::string limit;
  const char* remedy;
  FindFunction find;
  bool symptom = false;  // says nothing beside a finding that names the cause
};

// In the order of the findings: what comes first may be the cause of what comes after it.
const std::vector<Rule>& DiagnoseRules();

// Limits. A finding lies beyond its limit, never on it.
inline constexpr double kInputScaleRatio = 8;    // of the better input's width to the given one's
inline constexpr double kOutlierRatio = 2;       // to the largest of all other samples
inline constexpr double kOutlierTensors = 0.1;   // share of the tensors
inline constexpr int64_t kOutlierSamples = 8;    // fewer say nothing
inline constexpr double kHugeRatio = 16;         // of the largest value to the bulk's
inline constexpr double kHugeBulkDb = 20;        // what the steps leave of the bulk
inline constexpr double kGapShare = 0.5;         // of the values' interval
inline constexpr double kClusterShare = 0.001;   // of the elements on the smaller side
inline constexpr double kClusterSteps = 16;      // that the larger group is left with
inline constexpr double kHiddenRatio = 64;       // of the largest channel's peak to the median's
inline constexpr double kHiddenDb = 12;          // of the median channel, alone
inline constexpr double kClippedReach = 0.5;     // of the values' reach that the range keeps
inline constexpr double kSaturatingInput = 6.2;  // where a sigmoid is within 1/512 of its end
inline constexpr double kConcatQuanta = 16;      // steps that an input of a Concat reaches over
inline constexpr double kAddQuanta = 1;          // the same of an Add
inline constexpr double kDeadRange = 4;          // times the values
inline constexpr double kSaturatedShare = 0.01;  // of the elements
inline constexpr int64_t kSaturatedCount = 32;   // fewer elements say nothing
inline constexpr double kScoreRatio = 0.5;       // of the highest scores, INT8 to float

std::vector<Finding> FindBadWeightRule(const DiagnoseFacts& facts,
                                       const DiagnoseCommands& commands);
std::vector<Finding> FindLabelOffset(const DiagnoseFacts& facts, const DiagnoseCommands& commands);
std::vector<Finding> FindUnnormalisedInput(const DiagnoseFacts& facts,
                                           const DiagnoseCommands& commands);
std::vector<Finding> FindWrongPreprocessing(const DiagnoseFacts& facts,
                                            const DiagnoseCommands& commands);
std::vector<Finding> FindOutlierSample(const DiagnoseFacts& facts,
                                       const DiagnoseCommands& commands);
std::vector<Finding> FindDeadChannel(const DiagnoseFacts& facts, const DiagnoseCommands& commands);
std::vector<Finding> FindHugeValue(const DiagnoseFacts& facts, const DiagnoseCommands& commands);
std::vector<Finding> FindTwoClusters(const DiagnoseFacts& facts, const DiagnoseCommands& commands);
std::vector<Finding> FindHiddenScale(const DiagnoseFacts& facts, const DiagnoseCommands& commands);
std::vector<Finding> FindClippedHead(const DiagnoseFacts& facts, const DiagnoseCommands& commands);
std::vector<Finding> FindUnlikeScales(const DiagnoseFacts& facts, const DiagnoseCommands& commands);
std::vector<Finding> FindDeadRange(const DiagnoseFacts& facts, const DiagnoseCommands& commands);
std::vector<Finding> FindSaturation(const DiagnoseFacts& facts, const DiagnoseCommands& commands);
std::vector<Finding> FindScoreCollapse(const DiagnoseFacts& facts,
                                       const DiagnoseCommands& commands);
std::vector<Finding> FindLossyLayer(const DiagnoseFacts& facts, const DiagnoseCommands& commands);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_DIAGNOSE_RULES_H_
