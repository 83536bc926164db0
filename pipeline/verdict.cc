#include "pipeline/verdict.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/error.h"

namespace rshift {
namespace {

constexpr double kGoodDb = 12, kBadDb = 8;
constexpr double kPlentyDb = 20;  // 8 bits can give most networks as much

std::string Decibels(double db) {
  if (std::isnan(db)) return "NaN";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", db);
  return text;
}

const OutputResult& WorstOutput(const std::vector<OutputResult>& outputs) {
  return *std::min_element(outputs.begin(), outputs.end(),
                           [](const OutputResult& a, const OutputResult& b) {
                             const Grade grade_a = Judge({a}), grade_b = Judge({b});
                             if (grade_a != grade_b) return grade_a > grade_b;
                             return Quality({a}) < Quality({b});
                           });
}

std::string OutputText(const OutputResult& output) {
  char text[160];
  if (!output.floating) {
    std::snprintf(text, sizeof text, "%.2f %% of the integers agree", output.equal_percent);
    return text;
  }
  std::snprintf(text, sizeof text, "%s dB SQNR, cosine %.4f",
                Decibels(output.similarity.sqnr_db).c_str(), output.similarity.cosine);
  std::string out = text;
  if (output.classes) {
    out += Cat(", the same class ", output.rows_agree, " of ", output.rows, " times");
    if (output.rows_tied > 0) out += Cat(" (almost tied ", output.rows_tied, ")");
  } else if (output.channels.channels > 1 && !output.scores) {
    out += ", channels' median " + Decibels(output.channels.median_db) + " dB";
  }
  if (output.untold())
    return out + ", all numbers within a step of 8 bits, where they do not say what it is worth";
  if (output.within_step) return out + ", every number within a step of 8 bits";
  if (output.constant) out += ", one and the same number everywhere";
  return out;
}

std::string WeakestText(const Verdict& verdict) {
  std::string out;
  for (const LayerResult& layer : verdict.weakest) {
    out += Cat(out.empty() ? "; weakest alone: " : ", ", layer.command, " '", layer.tensor, "' ",
               Decibels(layer.alone_channels.median_db), " dB");
  }
  return out;
}

}  // namespace

const char* Name(Grade grade) {
  switch (grade) {
    case Grade::kNone:
      return "not checked";
    case Grade::kGood:
      return "good";
    case Grade::kDoubtful:
      return "doubtful";
    case Grade::kBad:
      return "BAD";
  }
  return "?";
}

Grade Judge(const std::vector<OutputResult>& outputs) {
  if (outputs.empty()) return Grade::kNone;
  Grade grade = Grade::kGood;
  for (const OutputResult& output : outputs) {
    if (output.untold()) continue;
    const double quality = Quality({output});
    const int64_t wrong = output.rows_wrong();
    const bool lost = output.constant;
    if (quality < kBadDb || lost || (wrong > 0 && 2 * wrong >= output.rows)) return Grade::kBad;
    if (quality < kGoodDb || 4 * wrong > output.rows) grade = Grade::kDoubtful;
  }
  return IsTold(outputs) ? grade : Grade::kDoubtful;
}

Grade JudgeBoxes(const BoxAgreement& boxes) {
  constexpr int64_t kFewBoxes = 10;
  constexpr double kGoodShare = .75, kBadShare = .5;
  if (std::max(boxes.wanted, boxes.found) < kFewBoxes) return Grade::kGood;
  if (boxes.least() < kBadShare) return Grade::kBad;
  return boxes.least() < kGoodShare ? Grade::kDoubtful : Grade::kGood;
}

std::vector<LayerResult> WeakestAlone(const std::vector<LayerResult>& layers) {
  std::vector<LayerResult> weakest;
  for (const LayerResult& layer : layers) {
    if (!layer.moves) weakest.push_back(layer);
  }
  std::stable_sort(weakest.begin(), weakest.end(), [](const LayerResult& a, const LayerResult& b) {
    return a.alone_channels.median_db < b.alone_channels.median_db;
  });
  return weakest;
}

std::string CheckLine(const Verdict& verdict) {
  if (verdict.grade == Grade::kNone) return "check: not done: " + verdict.why_none + "\n";
  std::string out = Cat("check: ", Name(verdict.grade), ": ", verdict.samples, ", outputs ",
                        OutputText(WorstOutput(verdict.outputs)));
  if (verdict.outputs.size() > 1)
    out += Cat(" (the worst of ", verdict.outputs.size(), ": '", WorstOutput(verdict.outputs).name,
               "')");
  const bool has_boxes = verdict.boxes && verdict.boxes->wanted + verdict.boxes->found > 0;
  if (has_boxes) out += ", boxes: " + BoxesText(*verdict.boxes);
  const bool loses =
      has_boxes ? verdict.boxes->least() < kGoodBoxes : Quality(verdict.outputs) < kPlentyDb;
  if (verdict.grade == Grade::kGood && loses && verdict.can_search)
    out += "; --auto looks for more";
  return out + WeakestText(verdict) + "\n";
}

std::string WarningLine(const Verdict& verdict) {
  if (verdict.grade != Grade::kBad && verdict.grade != Grade::kDoubtful) return "";
  if (!verdict.outputs.empty() && !IsTold(verdict.outputs)) {
    return Cat(
        "warning: all numbers of the outputs are within a step of 8 bits, so these samples "
        "do not show what the program is worth: give others with --test-input, or, if they "
        "are what it is for, ",
        verdict.next, "\n");
  }
  return Cat("warning: the program's outputs are ",
             verdict.grade == Grade::kBad ? "far from" : "not close to", " the float model's; ",
             verdict.next, "\n");
}

}  // namespace rshift
