// AIMET's encodings of version 1.0.0: "activation_encodings" and "param_encodings" are lists of
// objects {name, enc_type, dtype, bw, is_sym, scale: [], offset: []}; enc_type PER_TENSOR or
// PER_CHANNEL is read, PER_BLOCK and LPBQ are not. Sources: AIMET's documentation, "Encoding Format
// Specification", and the encodings its own tests and users' files hold.
#include "interop/aimet.h"
#include "interop/format_list.h"

namespace rshift {
namespace {

bool Recognise(const std::string& text) { return IsAimet(text, '1'); }

bool IsFloat(const Json& object, const std::string& what) {
  const std::string dtype =
      object.contains("dtype") ? JsonString(object["dtype"], what + ": dtype") : "INT";
  RSHIFT_REQUIRE(dtype == "INT" || dtype == "FLOAT", ErrorCode::kInvalidInput, what, ": dtype '",
                 dtype, "', expected INT or FLOAT");
  return dtype == "FLOAT";
}

AimetEncoding EncodingOf(const Json& object, const std::string& what) {
  AimetEncoding encoding;
  encoding.bits = JsonInteger(Member(object, "bw", what), what + ": bw");
  encoding.is_float = IsFloat(object, what);
  if (encoding.is_float) return encoding;
  if (object.contains("enc_type")) {
    const std::string type = JsonString(object["enc_type"], what + ": enc_type");
    RSHIFT_REQUIRE(type == "PER_TENSOR" || type == "PER_CHANNEL", ErrorCode::kUnsupported, what,
                   ": enc_type ", type, ", expected PER_TENSOR or PER_CHANNEL");
  }
  encoding.is_symmetric =
      object.contains("is_sym") && JsonBool(object["is_sym"], what + ": is_sym");
  encoding.scales = JsonNumbers(Member(object, "scale", what), what + ": scale");
  if (object.contains("offset"))
    encoding.offsets = JsonIntegers(object["offset"], what + ": offset");
  if (encoding.offsets.size() == 1)
    encoding.offsets.resize(encoding.scales.size(), encoding.offsets[0]);
  RSHIFT_REQUIRE(!encoding.scales.empty(), ErrorCode::kInvalidInput, what, ": scale is empty");
  RSHIFT_REQUIRE(encoding.offsets.empty() || encoding.offsets.size() == encoding.scales.size(),
                 ErrorCode::kInvalidInput, what, ": ", encoding.scales.size(), " scales and ",
                 encoding.offsets.size(), " offsets, expected as many");
  return encoding;
}

void ReadSection(const Json& json, const char* key, Subject subject, const std::string& where,
                 ScaleSet* set) {
  const std::string section = where + ": " + key;
  if (!json.contains(key)) return;
  RSHIFT_REQUIRE(json[key].is_array(), ErrorCode::kInvalidInput, section, ": expected a list");
  for (const Json& object : json[key]) {
    const std::string name = JsonString(Member(object, "name", section), section + ": name");
    const std::string what = section + ": '" + name + "'";
    ScaleEntry entry = FromAimet(name, subject, EncodingOf(object, what), what);
    if (object.contains("axis"))
      entry.axis = SmallInt(JsonInteger(object["axis"], what + ": axis"), what + ": axis");
    set->entries.push_back(std::move(entry));
  }
}

ScaleSet Read(const std::string& text, const std::string& where) {
  ScaleSet set;
  const Json json = ParseJson(text, where);
  if (json.contains("version")) {
    const std::string version = JsonString(json["version"], where + ": version");
    RSHIFT_REQUIRE(version.starts_with("1."), ErrorCode::kUnsupported, where, ": version ", version,
                   " of AIMET's encodings, expected 1.x; export them as 1.0.0 or 0.6.1");
  }
  ReadSection(json, "activation_encodings", Subject::kTensor, where, &set);
  ReadSection(json, "param_encodings", Subject::kWeights, where, &set);
  ReadExcluded(json, where, &set);
  return set;
}

Json ObjectOf(const ScaleEntry& entry, const WriteOptions& options) {
  const AimetEncoding encoding = ToAimet(entry, options.symmetric);
  if (encoding.is_float) return {{"name", entry.name}, {"dtype", "FLOAT"}, {"bw", 16}};
  const bool by_channel = encoding.scales.size() > 1;
  return {{"name", entry.name},
          {"dtype", "INT"},
          {"bw", encoding.bits},
          {"enc_type", by_channel ? "PER_CHANNEL" : "PER_TENSOR"},
          {"is_sym", encoding.is_symmetric},
          {"scale", encoding.scales},
          {"offset", encoding.offsets}};
}

std::string Write(const ScaleSet& set, const WriteOptions& options, Losses* losses) {
  Json json = {{"version", "1.0.0"},
               {"activation_encodings", Json::array()},
               {"param_encodings", Json::array()},
               {"excluded_layers", ExcludedLayers(set)}};
  for (const ScaleEntry& entry : set.entries) {
    if (!AimetTakes(entry, losses)) continue;
    const bool is_weights = entry.subject == Subject::kWeights;
    json[is_weights ? "param_encodings" : "activation_encodings"].push_back(
        ObjectOf(entry, options));
  }
  CountAimetLosses(set, losses);
  return JsonFileText(json);
}

}  // namespace

const ScaleFormat kAimet10 = {"aimet-1.0",
                              "encodings of AIMET, version 1.0.0",
                              ".encodings .aimet.json",
                              Recognise,
                              Read,
                              Write,
                              {.symmetric = true}};

}  // namespace rshift
