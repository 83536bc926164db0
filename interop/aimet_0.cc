// AIMET's encodings up to version 0.6.1: "activation_encodings" and "param_encodings" are maps from
// a tensor to a list of encodings, one, or one for each channel. Source: AIMET's documentation,
// "Encoding Format Specification", versions 0.4.0 to 0.6.1.
#include "interop/aimet.h"
#include "interop/format_list.h"

namespace rshift {
namespace {

bool Recognise(const std::string& text) { return IsAimet(text, '0'); }

bool IsFloat(const Json& channel, const std::string& what) {
  const std::string dtype =
      channel.is_object() && channel.contains("dtype") ? JsonString(channel["dtype"], what) : "int";
  RSHIFT_REQUIRE(dtype == "float" || dtype == "int", ErrorCode::kInvalidInput, what, ": dtype '",
                 dtype, "', expected int or float");
  return dtype == "float";
}

// One channel; `encoding` has those before it.
void AddChannel(const Json& channel, bool first, const std::string& what, AimetEncoding* encoding) {
  const bool is_float = IsFloat(channel, what);
  const int64_t bits = JsonInteger(Member(channel, "bitwidth", what), what + ": bitwidth");
  const bool is_symmetric =
      !is_float && JsonBool(Member(channel, "is_symmetric", what), what + ": is_symmetric");
  if (first) {
    encoding->is_float = is_float;
    encoding->bits = bits;
    encoding->is_symmetric = is_symmetric;
  }
  RSHIFT_REQUIRE(encoding->is_float == is_float && encoding->bits == bits &&
                     encoding->is_symmetric == is_symmetric,
                 ErrorCode::kUnsupported, what,
                 ": its channels differ in dtype, bitwidth or is_symmetric, expected one of each");
  if (is_float) return;
  encoding->scales.push_back(JsonNumber(Member(channel, "scale", what), what + ": scale"));
  encoding->offsets.push_back(JsonInteger(Member(channel, "offset", what), what + ": offset"));
}

void ReadSection(const Json& json, const char* key, Subject subject, const std::string& where,
                 ScaleSet* set) {
  const std::string section = where + ": " + key;
  if (!json.contains(key)) return;
  RSHIFT_REQUIRE(json[key].is_object(), ErrorCode::kInvalidInput, section, ": expected an object");
  for (const auto& [name, channels] : json[key].items()) {
    const std::string what = section + ": '" + name + "'";
    RSHIFT_REQUIRE(channels.is_array() && !channels.empty(), ErrorCode::kInvalidInput, what,
                   ": expected a list of encodings");
    AimetEncoding encoding;
    for (size_t i = 0; i < channels.size(); ++i)
      AddChannel(channels[i], /*first=*/i == 0, what, &encoding);
    set->entries.push_back(FromAimet(name, subject, encoding, what));
  }
}

ScaleSet Read(const std::string& text, const std::string& where) {
  ScaleSet set;
  const Json json = ParseJson(text, where);
  ReadSection(json, "activation_encodings", Subject::kTensor, where, &set);
  ReadSection(json, "param_encodings", Subject::kWeights, where, &set);
  ReadExcluded(json, where, &set);
  return set;
}

Json ChannelsOf(const ScaleEntry& entry, const WriteOptions& options) {
  const AimetEncoding encoding = ToAimet(entry, options.symmetric);
  Json channels = Json::array();
  if (encoding.is_float) channels.push_back({{"bitwidth", 16}, {"dtype", "float"}});
  for (size_t i = 0; i < encoding.scales.size(); ++i) {
    const double scale = encoding.scales[i];
    const auto offset = static_cast<double>(encoding.offsets[i]);
    const auto top = static_cast<double>(QMax(entry.bits, false));
    channels.push_back({{"bitwidth", encoding.bits},
                        {"dtype", "int"},
                        {"is_symmetric", encoding.is_symmetric ? "True" : "False"},
                        {"max", (top + offset) * scale},
                        {"min", offset * scale},
                        {"offset", encoding.offsets[i]},
                        {"scale", scale}});
  }
  return channels;
}

std::string Write(const ScaleSet& set, const WriteOptions& options, Losses* losses) {
  Json json = {{"version", "0.6.1"},
               {"activation_encodings", Json::object()},
               {"param_encodings", Json::object()},
               {"excluded_layers", ExcludedLayers(set)}};
  for (const ScaleEntry& entry : set.entries) {
    if (!AimetTakes(entry, losses)) continue;
    const bool is_weights = entry.subject == Subject::kWeights;
    json[is_weights ? "param_encodings" : "activation_encodings"][entry.name] =
        ChannelsOf(entry, options);
  }
  CountAimetLosses(set, losses);
  return JsonFileText(json);
}

}  // namespace

const ScaleFormat kAimet06 = {
    "aimet-0.6",        "encodings of AIMET, version 0.6.1", ".aimet0.json", Recognise, Read, Write,
    {.symmetric = true}};

}  // namespace rshift
