// Calibration caches of TensorRT (IInt8Calibrator::writeCalibrationCache): one line that names
// version and algorithm, "TRT-8601-EntropyCalibration2", then "tensor: 3c008912" for each tensor,
// the bits of the scale as eight hexadecimal digits, most significant first. Scales are dynamic
// range / 127, of s8 without zero point, for tensors alone. Source: NVIDIA's readme of sampleINT8,
// "Calibration file"; an answer on NVIDIA's forum about the order of the digits.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>

#include "base/error.h"
#include "interop/format_list.h"
#include "interop/text_table.h"

namespace rshift {
namespace {

constexpr const char* kHeader = "TRT-8601-EntropyCalibration2";

bool Recognise(const std::string& text) { return text.starts_with("TRT-"); }

ScaleEntry EntryOf(const std::string& line, const std::string& place) {
  const size_t colon = line.rfind(": ");
  const std::string digits = colon == std::string::npos ? "" : line.substr(colon + 2);
  RSHIFT_REQUIRE(digits.size() <= 8 && !digits.empty() &&
                     digits.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos,
                 ErrorCode::kInvalidInput, place, ": '", line.substr(0, 200),
                 "', expected 'tensor: ' and up to eight hexadecimal digits");
  const auto bits = static_cast<uint32_t>(std::strtoul(digits.c_str(), nullptr, 16));
  ScaleEntry entry{.name = line.substr(0, colon)};
  entry.is_signed = true;
  const float scale = std::bit_cast<float>(bits);
  if (scale == 0) {
    entry.threshold = 0;  // a tensor of zeros
  } else {
    entry.scales = {static_cast<double>(scale)};
  }
  return entry;
}

ScaleSet Read(const std::string& text, const std::string& where) {
  ScaleSet set;
  EachLine(text, where, [&](const std::string& line, const std::string& place) {
    if (set.header.empty()) {
      RSHIFT_REQUIRE(line.starts_with("TRT-"), ErrorCode::kInvalidInput, place, ": '",
                     line.substr(0, 80), "', expected a first line like ", kHeader);
      set.header = line;
      set.method = line.substr(line.rfind('-') + 1);
    } else if (!line.empty()) {
      set.entries.push_back(EntryOf(line, place));
    }
  });
  return set;
}

// The losses of formats that hold one symmetric scale for a tensor.
void CountLosses(const ScaleEntry& entry, Losses* losses) {
  if (!IsCentred(entry)) ++(*losses)["zero points left out: TensorRT's caches have none"];
  if (entry.scales.size() > 1 || entry.low.size() > 1)
    ++(*losses)["tensors with scales by channel get their largest: caches have one a tensor"];
  if (entry.bits != 8) ++(*losses)["widths other than 8 bits left out: TensorRT's caches are int8"];
}

std::string Write(const ScaleSet& set, const WriteOptions& options, Losses* losses) {
  const std::string own = set.header.empty() ? kHeader : set.header;
  RSHIFT_REQUIRE(
      options.header.empty() || (options.header.starts_with("TRT-") &&
                                 options.header.find_first_of("\r\n") == std::string::npos),
      ErrorCode::kInvalidInput, "--header '", options.header, "', expected one line like ",
      kHeader);
  std::string out = (options.header.empty() ? own : options.header) + "\n";
  for (const ScaleEntry& entry : set.entries) {
    if (entry.subject != Subject::kTensor) {
      ++(*losses)[Cat("scales of ", Name(entry.subject),
                      " left out: TensorRT's caches hold activations by tensor")];
      continue;
    }
    if (entry.is_float) {
      ++(*losses)["tensors in floating point left out: TensorRT takes no scale for them"];
      continue;
    }
    RSHIFT_REQUIRE(entry.name.find_first_of("\r\n") == std::string::npos, ErrorCode::kUnsupported,
                   "'", entry.name, "': TensorRT's caches cannot hold a name with a line end");
    CountLosses(entry, losses);
    double scale = 0;
    for (const double s : SymmetricScalesOf(entry)) scale = std::max(scale, s);
    std::array<char, 16> digits{};
    std::snprintf(digits.data(), digits.size(), "%08x",
                  std::bit_cast<uint32_t>(static_cast<float>(scale)));
    out += entry.name + ": " + digits.data() + "\n";
  }
  if (!set.precisions.empty())
    (*losses)["precisions of operators left out: TensorRT's caches have none"] =
        static_cast<int64_t>(set.precisions.size());
  return out;
}

}  // namespace

const ScaleFormat kTensorRt = {
    "tensorrt",      "calibration cache of TensorRT", ".cache", Recognise, Read, Write,
    {.header = true}};

}  // namespace rshift
