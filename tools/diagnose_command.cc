// model_tool diagnose: what is wrong with a model, its data or its integer program.
#include <algorithm>
#include <string>

#include "base/error.h"
#include "calibrate/data/dataset.h"
#include "pipeline/diagnose/diagnosis.h"
#include "pipeline/diagnose/measure.h"
#include "pipeline/usage.h"
#include "quantize/ranges/table.h"
#include "tools/print.h"
#include "tools/tool_commands.h"

namespace rshift {
namespace {

// As a shell takes it for one word.
std::string Quoted(const std::string& word) {
  const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=,:+-@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

void AddOption(const std::string& name, const std::string& value, std::string* words) {
  if (!value.empty()) *words += Cat(words->empty() ? "" : " ", name, " ", Quoted(value));
}

// What the table says of inputs that no option names: model_calibrate has no table to read.
void AddRecordedShapes(const DiagnoseArguments& a, const ModelArguments& model,
                       std::string* words) {
  if (a.calibration.empty()) return;
  const auto named_by = [](const std::vector<std::string>& options, const std::string& input,
                           char end) {
    return std::any_of(options.begin(), options.end(),
                       [&](const std::string& option) { return option.starts_with(input + end); });
  };
  const CalibrationTable table = ReadTable(ReadSmallText(a.calibration), a.calibration);
  for (const auto& [input, shape] : table.input_shapes) {
    if (!named_by(model.input_shapes, input, ':') && !named_by(model.bindings, input, '='))
      AddOption("--input-shape", Cat(input, ":", ToString(shape)), words);
  }
}

DiagnoseCommands Commands(const DiagnoseArguments& a, const ModelArguments& model) {
  DiagnoseCommands commands{.model = Quoted(model.path)};
  for (const std::string& shape : model.input_shapes)
    AddOption("--input-shape", shape, &commands.model);
  AddRecordedShapes(a, model, &commands.model);
  for (const std::string& binding : model.bindings) AddOption("--bind", binding, &commands.model);
  AddOption("--append", model.append, &commands.model);
  for (const std::string& map : model.append_map) AddOption("--append-map", map, &commands.model);
  commands.dataset = "--dataset";
  for (const std::string& path : a.dataset) commands.dataset += " " + Quoted(path);
  AddOption("--preprocess", a.preprocess.source, &commands.recipe);
  AddOption("--resize", a.preprocess.resize, &commands.recipe);
  AddOption("--crop", a.preprocess.crop, &commands.recipe);
  AddOption("--mean", a.preprocess.mean, &commands.pixels);
  AddOption("--scale", a.preprocess.scale, &commands.pixels);
  AddOption("--color", a.preprocess.color, &commands.pixels);
  AddOption("--labels", a.labels, &commands.labels);
  commands.table_given = !a.calibration.empty();
  if (commands.table_given) commands.table = Quoted(a.calibration);
  commands.mode = a.mode;
  return commands;
}

DiagnoseOptions Options(const DiagnoseArguments& a, const ModelArguments& model) {
  DiagnoseOptions options{.model = model.path};
  options.dataset = a.dataset;
  options.preprocess = a.preprocess;
  options.labels = a.labels;
  options.label_offset = a.label_offset;
  options.calibration = a.calibration;
  if (a.mode == "asymmetric") options.mode = QuantMode::kAsymmetric;
  options.samples = a.samples;
  options.seed = a.seed;
  options.threads = a.threads;
  return options;
}

int ListRules(bool json) {
  if (json)
    PrintJson(RulesJson());
  else
    PrintText(RulesText());
  return 0;
}

}  // namespace

int DiagnoseCommand(const DiagnoseArguments& a, const ModelArguments& model, bool json) {
  if (a.rules) {
    RequireUsage(model.path.empty() && model.OptionGiven().empty() && a.dataset.empty() &&
                     a.labels.empty() && a.calibration.empty() && !a.preprocess.given(),
                 "--rules lists the rules: it takes no MODEL and none of its options");
    return ListRules(json);
  }
  RequireUsage(!model.path.empty(), "MODEL is required");
  DiagnoseOptions options = Options(a, model);
  CheckOptions(options);
  options.import = model.Import();
  const DiagnoseFacts facts = MeasureFacts(options, json ? nullptr : ShowProgress(), PrintNote);
  const std::vector<RuleFindings> found = ApplyRules(facts, Commands(a, model));
  if (json)
    PrintJson(DiagnosisJson(facts, found));
  else
    PrintText(DiagnosisText(facts, found));
  return a.strict && !found.empty() ? 1 : 0;
}

}  // namespace rshift
