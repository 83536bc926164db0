#include "pipeline/equalization_trial.h"

#include <cstdio>
#include <new>
#include <optional>
#include <utility>

#include "base/error.h"
#include "pipeline/caller_progress.h"
#include "pipeline/paired_choice.h"
#include "pipeline/plural.h"

namespace rshift {
namespace {

// Why there is no figure of a program's outputs; "" where there is one.
std::string WhyNone(const IntegerChoice& integers) {
  if (!integers.quality.empty()) return "";
  const std::optional<BiasCorrectionReport>& biases = integers.bias_report;
  if (!biases) return "the figures are those of --bias-correction";
  return biases->why_none.empty() ? "no layer has a bias to correct" : biases->why_none;
}

// Nobody has asked for the trial: what cannot be made of it is no error.
std::optional<IntegerChoice> Chosen(const IntegerRequest& request, std::string* why_none) {
  CallerProgress progress(request.progress);
  IntegerRequest own = request;
  own.progress = progress.function();
  std::optional<IntegerChoice> choice;
  try {
    choice = ChooseIntegers(own);
    *why_none = WhyNone(*choice);
  } catch (const Error& error) {
    *why_none = error.what();
  } catch (const std::bad_alloc&) {
    *why_none = "not enough memory to measure it";
  }
  progress.Rethrow();
  return why_none->empty() ? std::move(choice) : std::nullopt;
}

}  // namespace

EqualizationTrial TryEqualization(const IntegerRequest& usual, const IntegerRequest& other) {
  EqualizationTrial trial{ChooseIntegers(usual), {}};
  EqualizationTrialReport& report = trial.report;
  report.tensors = other.table.equalization.size() - usual.table.equalization.size();
  const std::vector<double> before = trial.integers.quality;
  report.why_none = WhyNone(trial.integers);
  if (!report.why_none.empty()) return trial;
  const std::optional<IntegerChoice> found = Chosen(other, &report.why_none);
  if (!found) return trial;
  report.samples = before.size();
  report.before_db = Mean(before);
  report.after_db = Mean(found->quality);
  report.kept = WorthKeeping(before, found->quality);
  if (report.kept) trial.integers = *found;
  return trial;
}

std::string TrialLine(const EqualizationTrialReport& report) {
  const std::string what = Cat("equalization of ", Count(report.tensors, "more tensor"), ": ");
  if (!report.why_none.empty()) return Cat(what, "not tried: ", report.why_none, "\n");
  char outputs[96];
  std::snprintf(outputs, sizeof outputs, "outputs %.1f -> %.1f dB SQNR on ", report.before_db,
                report.after_db);
  const std::string least =
      report.kept ? "" : Cat("not kept, no better by ", kAutoGainDb, " dB beyond chance: ");
  return Cat(what, least, outputs, Count(report.samples, "sample"), "\n");
}

}  // namespace rshift
