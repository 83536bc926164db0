#include "codegen/container/output_cuts.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/error.h"

namespace rshift {
namespace {

// "12:0:3" -> {12, 0, 3}; false when it is anything else.
bool ParseWord(std::string_view word, int64_t (&numbers)[3]) {
  const char *at = word.data(), *end = word.data() + word.size();
  for (int i = 0; i < 3; ++i) {
    if (i > 0 && (at == end || *at++ != ':')) return false;
    const auto [next, error] = std::from_chars(at, end, numbers[i]);
    if (error != std::errc() || next == at || numbers[i] < 0) return false;
    at = next;
  }
  return at == end;
}

bool Fits(const ProgramImage& image, const int64_t (&numbers)[3]) {
  const auto outputs = static_cast<int64_t>(image.outputs.size());
  if (numbers[0] >= outputs || numbers[2] >= outputs || numbers[0] == numbers[2]) return false;
  const auto record = [&](int64_t output) -> const TensorRecord& {
    return image.tensors[static_cast<size_t>(image.outputs[static_cast<size_t>(output)].tensor)];
  };
  const TensorRecord& count = record(numbers[2]);
  return numbers[1] < static_cast<int64_t>(record(numbers[0]).shape.size()) &&
         count.dtype == DType::kS64 && NumElements(count.shape) == 1;
}

}  // namespace

std::string OutputCutsText(const std::vector<ProgramCut>& cuts) {
  std::string text;
  for (const ProgramCut& cut : cuts)
    text += Cat(text.empty() ? "" : " ", cut.output, ":", cut.axis, ":", cut.count);
  return text;
}

std::vector<ProgramCut> OutputCuts(const ProgramImage& image, const std::string& where) {
  std::vector<ProgramCut> cuts;
  const auto found = image.meta.find(kOutputCutsKey);
  if (found == image.meta.end()) return cuts;
  const std::string_view text = found->second;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    int64_t numbers[3] = {};
    const bool once = ParseWord(text.substr(begin, end - begin), numbers) && Fits(image, numbers) &&
                      std::none_of(cuts.begin(), cuts.end(), [&](const ProgramCut& cut) {
                        return cut.output == numbers[0] || cut.output == numbers[2];
                      });
    RSHIFT_REQUIRE(once, ErrorCode::kCorrupt, where, ": metadata '", kOutputCutsKey, "' is '", text,
                   "', expected output:axis:count of outputs that the program has, the count one "
                   "s64, each output once; the file is damaged or was written by another version");
    cuts.push_back(
        {static_cast<int32_t>(numbers[0]), static_cast<int32_t>(numbers[2]), numbers[1]});
    begin = end + 1;
  }
  return cuts;
}

bool IsCount(const std::vector<ProgramCut>& cuts, size_t output) {
  return std::any_of(cuts.begin(), cuts.end(), [output](const ProgramCut& cut) {
    return static_cast<size_t>(cut.count) == output;
  });
}

}  // namespace rshift
