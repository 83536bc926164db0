#include "pipeline/diagnose/rules.h"

#include "base/error.h"
#include "pipeline/diagnose/finding_text.h"

namespace rshift {
namespace {

constexpr const char* kNewTable = "net.table.yaml";

std::string Joined(std::initializer_list<std::string> words) {
  std::string line;
  for (const std::string& word : words) {
    if (!word.empty()) line += (line.empty() ? "" : " ") + word;
  }
  return line;
}

std::vector<Rule> InputRules() {
  return {
      {"bad-weight", "a weight, bias or BatchNorm constant is NaN or infinite", "none",
       "mend the file: export it again from a checkpoint that is whole; nothing else is "
       "measured before",
       FindBadWeightRule},
      {"label-offset", "labels + 1 or labels - 1 fit far better than the labels (--labels)",
       "a tenth of the samples", "give the offset, or other labels (a background class?)",
       FindLabelOffset},
      {"unnormalised-input",
       "the input is far wider or narrower than that of a preprocessing that fits better, or "
       "far wider than what the table (--calibration) was made with",
       Cat(kInputScaleRatio, " times"), "give the mean and scale of training",
       FindUnnormalisedInput},
      {"wrong-preprocessing",
       "another mean, scale or order of the colours fits better: by right answers (--labels), "
       "else by the first BatchNorm",
       "a tenth of the samples; half of the BatchNorm's distance",
       "give the mean, scale and order of the colours of training", FindWrongPreprocessing},
      {"outlier-sample", "one sample alone sets the range of many tensors",
       Cat(PercentText(kOutlierTensors), " of the tensors, ", kOutlierRatio, " times all others"),
       "look at the sample and leave it out, or clip", FindOutlierSample}};
}

std::vector<Rule> ValueRules() {
  return {{"dead-channel",
           "the weights and bias of a channel are all zero, or a channel of an input or output is "
           "one number in every place of every sample",
           Cat("none; ", kOutlierSamples, " samples"),
           "look at the checkpoint the model was exported from, and at the data; more samples",
           FindDeadChannel},
          {"huge-value", "one element in a thousand makes the range so wide that the others drown",
           Cat(kHugeRatio, " times the others; ", kHugeBulkDb, " dB left of them"),
           "a method that clips", FindHugeValue},
          {"two-clusters", "the values lie in two groups with nothing between",
           Cat(PercentText(kGapShare), " of their interval, ", PercentText(kClusterShare),
               " of the elements in the smaller; ", kClusterSteps, " of 255 steps for the larger"),
           "keep what reads it in F32, or take the groups apart in the model", FindTwoClusters}};
}

std::vector<Rule> IntegerRules() {
  return {
      {"hidden-channel-scale",
       "channels of one tensor differ by orders, the small ones are lost, and the outputs are not "
       "good",
       Cat(kHiddenRatio, " times the median channel, ", kHiddenDb, " dB left of that; or ",
           kEqualizeBelowDb, " dB where the table has no equalization"),
       "equalize, or keep what reads it in F32", FindHiddenScale},
      {"unlike-scales", "a Concat or Add joins tensors whose ranges differ by orders",
       Cat(kConcatQuanta, " of 255 steps in a Concat, ", kAddQuanta, " in an Add"),
       "keep the join in F32, or move it behind the functions that read it", FindUnlikeScales},
      {"clipped-head",
       "the range cuts off values of an output, or of what Sigmoid, Tanh or Softmax read",
       Cat(PercentText(kClippedReach), " of the way to the largest value; sigmoids to ",
           kSaturatingInput),
       "a method that does not clip there", FindClippedHead},
      {"dead-range", "a range of the table (--calibration) is far wider than the values",
       Cat(kDeadRange, " times"), "calibrate again on the data that the program will see",
       FindDeadRange},
      {"saturation", "many integers of a tensor are held at an end of the range",
       Cat(PercentText(kSaturatedShare), " of the elements"),
       "a wider range: --method minmax, or a table of this data", FindSaturation},
      {"score-collapse", "scores (0 to 1) of the integer program are far below the float ones",
       PercentText(kScoreRatio), "keep the head in F32, or give scores an output of their own",
       FindScoreCollapse},
      {"lossy-layer", "the outputs are not good, whatever the reason",
       "what `check:` of model_deploy calls good", "keep the layers that lose most in F32",
       FindLossyLayer, true}};
}

}  // namespace

std::string DiagnoseCommands::Diagnose(const std::string& options) const {
  return Joined({"model_tool diagnose", model, dataset, recipe, pixels, labels,
                 table_given ? "--calibration " + table : "", options});
}

std::string DiagnoseCommands::Calibrate(const std::string& options) const {
  return Joined({"model_calibrate", model, dataset, recipe, pixels, options, "-o", kNewTable});
}

std::string DiagnoseCommands::CalibrateWith(const std::string& other_pixels) const {
  return Joined({"model_calibrate", model, dataset, recipe, other_pixels, "-o", kNewTable});
}

std::string DiagnoseCommands::Deploy(const std::string& options) const {
  const std::string deploy =
      Joined({"model_deploy", model, "--calibration", table_given ? table : kNewTable, "--mode",
              mode, options, "-o net.rshift"});
  return table_given ? deploy : Calibrate("") + " && " + deploy;
}

const std::vector<Rule>& DiagnoseRules() {
  static const std::vector<Rule> rules = [] {
    std::vector<Rule> all = InputRules();
    for (const auto& more : {ValueRules(), IntegerRules()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return rules;
}

}  // namespace rshift
