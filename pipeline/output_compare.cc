#include "pipeline/output_compare.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/portable_math.h"
#include "calibrate/fill_inputs.h"
#include "codegen/container/output_cuts.h"
#include "graph/ops/select.h"
#include "isa/ops/visit.h"
#include "pipeline/tensor_view.h"
#include "quantize/ranges/known_bounds.h"
#include "runtime/outputs.h"

namespace rshift {
namespace {

constexpr int64_t kLeastClasses = 3;
constexpr float kTie = 0.1f;
constexpr double kStepsOfBound = 127;

// Every row of so many elements is a distribution, as a Softmax makes it.
bool AreProbabilities(std::span<const float> values, size_t classes) {
  constexpr double kRounding = 1e-3;
  for (size_t at = 0; at + classes <= values.size(); at += classes) {
    double sum = 0;
    for (const float value : values.subspan(at, classes)) {
      if (!(value >= 0)) return false;
      sum += double{value};
    }
    if (std::abs(sum - 1) > kRounding) return false;
  }
  return !values.empty();
}

// The number of classes when the output is one number for each of them, else 0: [N, C],
// [N, C, 1, 1], or the probabilities of each step of a sequence, [N, T, C].
int64_t Classes(const OutputValues& output) {
  const Shape& shape = output.shape;
  if (output.dtype != DType::kF32 || shape.size() < 2) return 0;
  const bool one = shape.size() == 2 || (shape.size() == 4 && shape[2] == 1 && shape[3] == 1);
  const int64_t classes = one ? shape[1] : shape.back();
  if (classes < kLeastClasses) return 0;
  if (one) return classes;
  const bool are = shape.size() == 3 && !output.samples.empty() &&
                   std::all_of(output.samples.begin(), output.samples.end(), [&](const auto& s) {
                     return AreProbabilities(s, static_cast<size_t>(classes));
                   });
  return are ? classes : 0;
}

size_t Largest(std::span<const float> row) {
  return static_cast<size_t>(std::max_element(row.begin(), row.end()) - row.begin());
}

bool IsConstant(const OutputValues& output) {
  const float first =
      output.samples.empty() || output.samples[0].empty() ? 0 : output.samples[0][0];
  return std::all_of(output.samples.begin(), output.samples.end(), [&](const auto& values) {
    return std::all_of(values.begin(), values.end(), [&](float value) { return value == first; });
  });
}

void CompareRows(const OutputValues& a, const OutputValues& b, size_t sample, size_t classes,
                 OutputResult* result) {
  if (classes == 0) return;
  result->classes = true;
  const std::span<const float> found = a.samples[sample], wanted = b.samples[sample];
  for (size_t at = 0; at + classes <= wanted.size(); at += classes) {
    const std::span<const float> row = wanted.subspan(at, classes);
    const size_t ours = Largest(found.subspan(at, classes)), theirs = Largest(row);
    const float range = row[theirs] - *std::min_element(row.begin(), row.end());
    ++result->rows;
    if (ours == theirs)
      ++result->rows_agree;
    else if (row[theirs] - row[ours] <= kTie * range)
      ++result->rows_tied;
  }
}

OutputResult CompareOutput(const OutputValues& a, const OutputValues& b) {
  RSHIFT_REQUIRE(a.name == b.name && a.samples.size() == b.samples.size(), ErrorCode::kInternal,
                 "comparing output '", a.name, "' with '", b.name, "'");
  OutputResult result;
  result.name = b.name;
  result.floating = b.dtype == DType::kF32;
  result.scores = b.scores;
  SimilaritySum sum;
  ChannelErrorSum channels(ChannelViews(Layout::kPlain, b.shape));
  const auto classes = static_cast<size_t>(Classes(b));
  int64_t equal = 0, elements = 0;
  for (size_t s = 0; s < b.samples.size(); ++s) {
    sum.Add(a.samples[s], b.samples[s]);
    channels.Add(a.samples[s], b.samples[s]);
    for (size_t i = 0; i < b.samples[s].size(); ++i) equal += a.samples[s][i] == b.samples[s][i];
    elements += static_cast<int64_t>(b.samples[s].size());
    CompareRows(a, b, s, classes, &result);
  }
  result.similarity = sum.Result();
  result.channels = channels.Result();
  if (elements > 0)
    result.equal_percent = 100 * static_cast<double>(equal) / static_cast<double>(elements);
  result.constant = elements > 1 && IsConstant(a) && !IsConstant(b);
  result.within_step =
      result.floating && b.bound > 0 && result.similarity.max_abs * kStepsOfBound <= b.bound;
  return result;
}

}  // namespace

std::vector<ComparedTensor> ComparedTensors(const Program& program) {
  const ProgramImage& image = program.image();
  const std::vector<ProgramCut> cuts = OutputCuts(image, program.where());
  std::vector<ComparedTensor> outputs, all;
  for (size_t i = 0; i < image.outputs.size(); ++i) {
    all.push_back({image.outputs[i].name, image.outputs[i].tensor, -1});
    const bool cut = std::any_of(cuts.begin(), cuts.end(), [i](const ProgramCut& c) {
      return static_cast<size_t>(c.output) == i || static_cast<size_t>(c.count) == i;
    });
    if (!cut) outputs.push_back(all.back());
  }
  for (size_t c = 0; c < image.commands.size() && !cuts.empty(); ++c) {
    const Command& command = image.commands[c];
    bool selects = false;
    isa::Visit(command, [&]<typename C>(const C&) { selects = kSelects<C>; });
    if (!selects) continue;
    const std::string node = c < image.command_names.size() ? image.command_names[c] : "selection";
    for (const FieldSpec& field : FindOp(command.opcode)->fields) {
      const bool read = field.kind == FieldKind::kTensorIn;
      if (!read || image.tensors[command.Tensor(field.field)].dtype != DType::kF32) continue;
      const bool second = field.field != Field::kSrc;
      outputs.push_back({Cat(node, ": ", second ? "input 1" : "input 0"),
                         command.Tensor(field.field), static_cast<int>(c),
                         second && command.opcode == Opcode::kNonMaxSuppression});
    }
  }
  return outputs.empty() ? all : outputs;
}

std::vector<OutputValues> EmptyValues(const Program& program,
                                      const std::vector<ComparedTensor>& compared) {
  std::vector<OutputValues> values;
  for (const ComparedTensor& one : compared) {
    const TensorRecord& record = program.image().tensors[one.tensor];
    const bool measures = record.quantized || SizeOf(record.dtype) == 2;
    const DType dtype = measures ? DType::kF32 : record.dtype;
    values.push_back({one.name, dtype, OnnxShape(record), {}, 0, one.scores});
  }
  return values;
}

std::vector<OutputValues> RunOutputs(const Program& program, const Dataset& samples, int threads,
                                     bool portable) {
  Session session(program, {.threads = threads, .portable = portable});
  const std::vector<ComparedTensor> compared = ComparedTensors(program);
  std::vector<OutputValues> outputs = EmptyValues(program, compared);
  const auto keep = [&](int command) {
    for (size_t i = 0; i < compared.size(); ++i) {
      if (compared[i].command != command) continue;
      outputs[i].samples.push_back(OnnxFloats(program.image().tensors[compared[i].tensor],
                                              session.Tensor(compared[i].tensor)));
    }
  };
  for (int64_t s = 0; s < samples.size(); ++s) {
    FillInputs(program, session, samples.Read(s));
    session.RunObserved(keep);
    keep(-1);
    RequireNoFault(program, session);
  }
  return outputs;
}

void SetBounds(const Graph& floating, std::vector<OutputValues>& reference) {
  const std::vector<KnownBounds> known = FindKnownBounds(floating);
  for (OutputValues& output : reference) {
    const ValueId id = floating.FindValue(output.name);
    if (!id.valid()) continue;
    float reach = 0;
    for (const std::vector<float>& sample : output.samples) {
      for (const float value : sample) reach = std::max(reach, std::fabs(value));
    }
    const KnownBounds& bounds = known[id.index()];
    if (bounds.FilledBy(reach)) output.bound = bounds.largest();
  }
}

std::vector<OutputResult> CompareOutputs(const std::vector<OutputValues>& found,
                                         const std::vector<OutputValues>& reference) {
  RSHIFT_REQUIRE(found.size() == reference.size(), ErrorCode::kInternal, "comparing ", found.size(),
                 " with ", reference.size(), " outputs");
  std::vector<OutputResult> results;
  for (size_t i = 0; i < found.size(); ++i)
    results.push_back(CompareOutput(found[i], reference[i]));
  return results;
}

bool IsTold(const std::vector<OutputResult>& outputs) {
  return !std::all_of(outputs.begin(), outputs.end(),
                      [](const OutputResult& output) { return output.untold(); });
}

double Quality(const std::vector<OutputResult>& outputs) {
  const bool told = IsTold(outputs);
  double quality = kNothingLostDb;
  for (const OutputResult& output : outputs) {
    if (!output.floating) {
      // A share p of unequal integers counts as noise p times as strong as the signal.
      const double wrong = 1 - output.equal_percent / 100;
      quality = std::min(quality, wrong == 0 ? kNothingLostDb : -10 * portable::Log10(wrong));
      continue;
    }
    if (output.within_step && told) continue;
    const double db = output.similarity.sqnr_db;
    quality = std::min(quality, std::isnan(db) ? -200 : db);
    if (!output.classes && !output.scores) quality = std::min(quality, output.channels.median_db);
  }
  return quality;
}

}  // namespace rshift
