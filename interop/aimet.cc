#include "interop/aimet.h"

#include <algorithm>

namespace rshift {

bool IsAimet(const std::string& text, char major) {
  // Version 2 has one list, "encodings", and is refused by name where version 1 is read.
  const bool two = text.find("\"encodings\"") != std::string::npos &&
                   text.find("\"version\"") != std::string::npos;
  if (two && text.find("_encodings\"") == std::string::npos) return major == '1';
  if (text.find_first_not_of(" \t\r\n") == std::string::npos ||
      text[text.find_first_not_of(" \t\r\n")] != '{' ||
      text.find("_encodings\"") == std::string::npos) {
    return false;
  }
  // Version 1 has lists in place of the maps of version 0.
  const size_t key =
      std::min(text.find("\"activation_encodings\""), text.find("\"param_encodings\""));
  const size_t value = key == std::string::npos ? key : text.find_first_of("[{", key);
  return value != std::string::npos && (text[value] == '[') == (major == '1');
}

ScaleEntry FromAimet(const std::string& name, Subject subject, const AimetEncoding& encoding,
                     const std::string& what) {
  ScaleEntry entry{.name = name, .subject = subject};
  entry.is_float = encoding.is_float;
  if (encoding.is_float) return entry;
  RSHIFT_REQUIRE(encoding.bits >= 2 && encoding.bits <= 32, ErrorCode::kInvalidInput, what, ": ",
                 encoding.bits, " bits, expected 2..32");
  entry.bits = static_cast<int>(encoding.bits);
  entry.scales = encoding.scales;
  const std::vector<int64_t>& offsets = encoding.offsets;
  // 2^(bits-1) steps below 0, or one less: -127..127, "strict symmetric".
  const int64_t half = int64_t{1} << (entry.bits - 1);
  const bool around_zero = std::all_of(
      offsets.begin(), offsets.end(), [half](int64_t o) { return o == -half || o == -(half - 1); });
  entry.is_signed = encoding.is_symmetric && around_zero;
  if (*entry.is_signed) return entry;
  for (const int64_t offset : offsets) entry.zero_points.push_back(-offset);
  if (IsCentred(entry)) entry.zero_points.clear();
  return entry;
}

AimetEncoding ToAimet(const ScaleEntry& entry, bool symmetric) {
  AimetEncoding encoding{.bits = entry.bits, .is_float = entry.is_float};
  if (entry.is_float) return encoding;
  const AxisQuantParams affine =
      AxisQuantParamsOf(entry, symmetric || entry.subject != Subject::kTensor);
  encoding.scales = affine.scales;
  // Signed integers are written as unsigned ones, 2^(bits-1) higher.
  const int64_t shift = affine.is_signed ? -QMin(entry.bits, true) : 0;
  encoding.is_symmetric = affine.is_signed;
  for (const int64_t zero : affine.zero_points) {
    encoding.is_symmetric = encoding.is_symmetric && zero == 0;
    encoding.offsets.push_back(-(zero + shift));
  }
  return encoding;
}

bool AimetTakes(const ScaleEntry& entry, Losses* losses) {
  const bool takes = entry.subject == Subject::kTensor || entry.subject == Subject::kWeights;
  if (!takes)
    ++(*losses)[Cat("scales of ", Name(entry.subject), " left out: give --model to name tensors")];
  return takes;
}

void CountAimetLosses(const ScaleSet& set, Losses* losses) {
  for (const ScaleEntry& entry : set.entries) {
    if (entry.threshold && entry.low.empty() && entry.scales.empty())
      ++(*losses)["thresholds written as scale = threshold / 127"];
  }
  for (const auto& [name, precision] : set.precisions) {
    if (precision != "F32" && precision != "INT8")
      ++(*losses)["operators of " + precision + " become excluded layers, which stay in F32"];
  }
}

void ReadExcluded(const Json& json, const std::string& where, ScaleSet* set) {
  const auto found = json.find("excluded_layers");
  if (found == json.end() || found->is_null()) return;
  const std::string what = where + ": excluded_layers";
  RSHIFT_REQUIRE(found->is_array(), ErrorCode::kInvalidInput, what, ": expected a list");
  for (const Json& layer : *found) set->precisions[JsonString(layer, what)] = "F32";
}

Json ExcludedLayers(const ScaleSet& set) {
  Json layers = Json::array();
  for (const auto& [name, precision] : set.precisions) {
    if (precision != "INT8") layers.push_back(name);
  }
  return layers;
}

}  // namespace rshift
