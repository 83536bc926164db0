#include "pipeline/box_agreement.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>

#include "calibrate/fill_inputs.h"
#include "codegen/container/output_cuts.h"
#include "runtime/outputs.h"

namespace rshift {
namespace {

constexpr float kLeastOverlap = 0.5f;

float Area(const std::array<float, 4>& box) {
  return std::max(box[2] - box[0], 0.0f) * std::max(box[3] - box[1], 0.0f);
}

float IntersectionOverUnion(const std::array<float, 4>& a, const std::array<float, 4>& b) {
  const float both = Area(
      {std::max(a[0], b[0]), std::max(a[1], b[1]), std::min(a[2], b[2]), std::min(a[3], b[3])});
  const float either = Area(a) + Area(b) - both;
  return either > 0 ? both / either : 0;
}

double Fraction(int64_t part, int64_t whole) {
  return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
}

// The elements that count, of an output of numbers of 4 or 8 bytes.
template <typename T>
std::vector<T> ReadOutput(const Program& program, const Session& session, int output) {
  const std::vector<std::byte> bytes = OutputBytes(program, session, output);
  std::vector<T> numbers(bytes.size() / sizeof(T));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(T));
  return numbers;
}

const TensorRecord& RecordOf(const Program& program, int output) {
  const ProgramImage& image = program.image();
  return image.tensors[image.outputs[output].tensor];
}

// Sets *place to `output`; false where it is already set.
bool SetOnce(int* place, int output) {
  if (*place >= 0) return false;
  *place = output;
  return true;
}

std::vector<std::vector<Box>> RunBoxes(const Program& program, const BoxOutputs& outputs,
                                       const Dataset& samples, int threads) {
  Session session(program, {.threads = threads});
  std::vector<std::vector<Box>> boxes;
  for (int64_t s = 0; s < samples.size(); ++s) {
    FillInputs(program, session, samples.Read(s));
    session.Run();
    RequireNoFault(program, session);
    boxes.push_back(ReadBoxes(program, session, outputs));
  }
  return boxes;
}

}  // namespace

std::optional<BoxOutputs> FindBoxOutputs(const Program& program) {
  BoxOutputs found{-1, -1, -1};
  int count = -1;
  for (const ProgramCut& cut : OutputCuts(program.image(), program.where())) {
    const TensorRecord& record = RecordOf(program, cut.output);
    const bool first = cut.axis == 0, floats = record.dtype == DType::kF32;
    const bool integers = record.dtype == DType::kS64 || record.dtype == DType::kS32;
    const size_t rank = record.shape.size();
    if (count < 0) count = cut.count;
    if (!first || record.quantized || cut.count != count) return std::nullopt;
    const bool fits = rank == 2
                          ? floats && record.shape[1] == 4 && SetOnce(&found.boxes, cut.output)
                          : rank == 1 && ((floats && SetOnce(&found.scores, cut.output)) ||
                                          (integers && SetOnce(&found.classes, cut.output)));
    if (!fits) return std::nullopt;
  }
  if (found.boxes < 0 || found.scores < 0 || found.classes < 0) return std::nullopt;
  return found;
}

std::vector<Box> ReadBoxes(const Program& program, const Session& session,
                           const BoxOutputs& outputs) {
  const auto corners = ReadOutput<float>(program, session, outputs.boxes);
  const auto scores = ReadOutput<float>(program, session, outputs.scores);
  std::vector<int64_t> classes;
  if (RecordOf(program, outputs.classes).dtype == DType::kS64) {
    classes = ReadOutput<int64_t>(program, session, outputs.classes);
  } else {
    const auto narrow = ReadOutput<int32_t>(program, session, outputs.classes);
    classes.assign(narrow.begin(), narrow.end());
  }
  std::vector<Box> boxes(scores.size());
  for (size_t i = 0; i < boxes.size(); ++i) {
    std::copy_n(corners.begin() + static_cast<ptrdiff_t>(4 * i), 4, boxes[i].corners.begin());
    boxes[i].score = scores[i];
    boxes[i].class_id = classes[i];
  }
  return boxes;
}

double BoxAgreement::recall() const { return Fraction(matched, wanted); }
double BoxAgreement::precision() const { return Fraction(matched, found); }
double BoxAgreement::least() const { return std::min(recall(), precision()); }

void BoxAgreement::Add(const BoxAgreement& other) {
  wanted += other.wanted;
  found += other.found;
  matched += other.matched;
}

BoxAgreement MatchBoxes(const std::vector<Box>& found, const std::vector<Box>& wanted) {
  std::vector<size_t> order(found.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return found[a].score > found[b].score; });
  std::vector<bool> taken(wanted.size());
  BoxAgreement agreement{static_cast<int64_t>(wanted.size()), static_cast<int64_t>(found.size()),
                         0};
  for (const size_t i : order) {
    float most = 0;
    size_t partner = 0;
    for (size_t j = 0; j < wanted.size(); ++j) {
      if (taken[j] || wanted[j].class_id != found[i].class_id) continue;
      const float overlap = IntersectionOverUnion(found[i].corners, wanted[j].corners);
      if (overlap > most) most = overlap, partner = j;
    }
    if (most < kLeastOverlap) continue;
    taken[partner] = true;
    ++agreement.matched;
  }
  return agreement;
}

std::string BoxesText(const BoxAgreement& agreement) {
  char text[128];
  std::snprintf(text, sizeof text, "recall %.3f (%lld of %lld boxes), precision %.3f",
                agreement.recall(), static_cast<long long>(agreement.matched),
                static_cast<long long>(agreement.wanted), agreement.precision());
  return text;
}

std::optional<BoxAgreement> CompareBoxes(const Program& integer, const Program& floating,
                                         const Dataset& samples, int threads) {
  const auto ours = FindBoxOutputs(integer), theirs = FindBoxOutputs(floating);
  if (!ours || !theirs) return std::nullopt;
  const auto found = RunBoxes(integer, *ours, samples, threads),
             wanted = RunBoxes(floating, *theirs, samples, threads);
  BoxAgreement sum;
  for (size_t s = 0; s < found.size(); ++s) sum.Add(MatchBoxes(found[s], wanted[s]));
  return sum;
}

}  // namespace rshift
