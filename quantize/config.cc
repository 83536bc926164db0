#include "quantize/config.h"

#include <filesystem>

#include "base/atomic_file.h"
#include "base/error.h"
#include "quantize/ascend_config.h"
#include "quantize/read_onednn_config.h"
#include "yaml/reader.h"

namespace rshift {
namespace {

std::optional<bool> ReadMode(const YamlPart& part, const std::string& what) {
  const std::string mode = ReadString(part, what);
  if (mode == "f32") return true;
  if (mode == "int8") return false;
  FailAt(part, what, " is '", mode, "', expected f32 or int8");
}

void CheckLayer(const YamlPart& part, const std::string& what, const LayerConfig& layer) {
  if (layer.threshold && !(*layer.threshold > 0)) {
    FailAt(part, what, ": threshold is ", *layer.threshold, ", expected a number > 0");
  }
  if (layer.low.has_value() != layer.high.has_value()) {
    FailAt(part, what, ": low and high belong together; give both");
  }
  if (layer.low && !(*layer.low < *layer.high)) {
    FailAt(part, what, ": low is ", *layer.low, " and high is ", *layer.high,
           ", expected low < high");
  }
  if (!layer.float32.value_or(false)) return;
  const auto has_no_integers = [&](const char* key, bool is_given) {
    if (is_given) FailAt(part, what, ": ", key, " with mode f32; leave one of them out");
  };
  has_no_integers("weight_bits", layer.weight_bits.has_value());
  has_no_integers("per_channel", layer.per_channel.has_value());
  has_no_integers("multiplier_bits", layer.multiplier_bits.has_value());
  has_no_integers("profile", layer.profile.has_value());
}

// profile and variant together say whose arithmetic: a variant names its profile beside it.
Profile ReadProfile(const YamlPart& part, const std::string& what) {
  if (!HasKey(part, "profile")) {
    FailAt(part, what, ": variant without profile; give the profile it belongs to");
  }
  const auto parse = [&](const char* key, auto parser) {
    const YamlPart child = Child(part, key, what);
    const std::string name = ReadString(child, what + ": " + key);
    try {
      return parser(name);
    } catch (const Error& error) {
      FailAt(child, what, ": ", error.what());
    }
  };
  Profile profile{parse("profile", ParseProfile), Variant::kByTable};
  if (HasKey(part, "variant")) profile.variant = parse("variant", ParseVariant);
  if (!HasVariant(profile.id, profile.variant)) {
    const std::string names = VariantNames(profile.id);
    FailAt(part, what, ": profile ", Name(profile.id), " has no variant ", Name(profile.variant),
           "; it has ", names.empty() ? "none" : names);
  }
  if (profile.id == ProfileId::kAscend) {
    FailAt(part, what,
           ": profile ascend is for a whole model, whose other operators are fp16's; "
           "give --profile ascend");
  }
  return profile;
}

LayerConfig ReadLayer(const YamlPart& part, const std::string& what) {
  const auto child = [&](const char* key) { return Child(part, key, what); };
  const auto label = [&](const char* key) { return what + ": " + key; };
  LayerConfig layer;
  if (HasKey(part, "mode")) layer.float32 = ReadMode(child("mode"), label("mode"));
  if (HasKey(part, "threshold"))
    layer.threshold = ReadFloat(child("threshold"), label("threshold"));
  if (HasKey(part, "low")) layer.low = ReadFloat(child("low"), label("low"));
  if (HasKey(part, "high")) layer.high = ReadFloat(child("high"), label("high"));
  if (HasKey(part, "per_channel"))
    layer.per_channel = ReadBool(child("per_channel"), label("per_channel"));
  if (HasKey(part, "multiplier_bits")) {
    layer.multiplier_bits = ReadEither(child("multiplier_bits"), label("multiplier_bits"), 8, 16);
  }
  if (HasKey(part, "activation_bits")) {
    layer.activation_bits = ReadEither(child("activation_bits"), label("activation_bits"), 8, 16);
  }
  if (HasKey(part, "weight_bits")) {
    layer.weight_bits = ReadEither(child("weight_bits"), label("weight_bits"), 4, 8);
  }
  if (HasKey(part, "onednn")) layer.onednn = ReadOneDnnConfig(child("onednn"), label("onednn"));
  if (HasKey(part, "ascend")) layer.ascend = ReadAscendConfig(child("ascend"), label("ascend"));
  if (HasKey(part, "profile") || HasKey(part, "variant")) layer.profile = ReadProfile(part, what);
  const bool says_something = layer.float32 || layer.threshold || layer.low || layer.high ||
                              layer.per_channel || layer.multiplier_bits || layer.activation_bits ||
                              layer.weight_bits || layer.profile || !layer.ascend.empty() ||
                              !layer.onednn.empty();
  if (!says_something) {
    FailAt(part, what,
           " has no setting; give mode, threshold, low and high, per_channel, "
           "multiplier_bits, activation_bits, weight_bits, profile, onednn or ascend, or leave it "
           "out");
  }
  CheckLayer(part, what, layer);
  return layer;
}

// type: Conv, or type: [Conv, MatMul].
std::vector<std::string> ReadTypes(const YamlPart& part, const std::string& what) {
  if (!part.node.IsSequence()) return {ReadString(part, what)};
  if (part.node.size() == 0) FailAt(part, what, " is an empty list; leave it out for any type");
  std::vector<std::string> types;
  for (const auto& item : part.node) types.push_back(ReadString({item, part.where}, what));
  return types;
}

void ReadLayers(const YamlPart& layers, QuantizeConfig* config) {
  CheckKeys(layers, "layers", {});
  for (const auto& entry : layers.node) {
    const std::string name = entry.first.Scalar(), what = "layer '" + name + "'";
    const YamlPart part{entry.second, layers.where};
    CheckKeys(part, what,
              {"type", "mode", "threshold", "low", "high", "per_channel", "multiplier_bits",
               "activation_bits", "weight_bits", "profile", "variant", "onednn", "ascend"});
    LayerConfig layer = ReadLayer(part, what);
    layer.line = entry.first.Mark().line + 1;
    const bool has_type = HasKey(part, "type");
    if (!has_type && name.find_first_of("*?") == std::string::npos) {
      config->layers[name] = layer;
      continue;
    }
    LayerPattern pattern{name, {}, layer};
    if (has_type) pattern.types = ReadTypes(Child(part, "type", what), what + ": type");
    config->patterns.push_back(std::move(pattern));
  }
}

void ReadTypeEntries(const YamlPart& types, QuantizeConfig* config) {
  CheckKeys(types, "types", {});
  for (const auto& entry : types.node) {
    const std::string name = entry.first.Scalar(), what = "type '" + name + "'";
    const YamlPart part{entry.second, types.where};
    CheckKeys(part, what,
              {"mode", "threshold", "low", "high", "per_channel", "multiplier_bits",
               "activation_bits", "weight_bits", "profile", "variant", "onednn", "ascend"});
    LayerConfig layer = ReadLayer(part, what);
    layer.line = entry.first.Mark().line + 1;
    config->types[name] = layer;
  }
}

// ascend_records: a file beside the configuration. What `layers` says of a layer wins.
void ReadRecords(const YamlPart& part, QuantizeConfig* config) {
  const std::string what = "ascend_records";
  const std::string path =
      (std::filesystem::path(part.where).parent_path() / ReadString(part, what)).string();
  for (const auto& [name, record] : ReadAscendRecords(ReadTextFile(path), path)) {
    LayerConfig& layer = config->layers[name];
    if (layer.line == 0) layer.line = part.node.Mark().line + 1;
    CompleteAscend(&layer.ascend, record.config);
  }
}

}  // namespace

QuantizeConfig ReadQuantizeConfig(const std::string& yaml_text, const std::string& where) {
  const YamlPart root = ParseYaml(yaml_text, where);
  CheckKeys(root, "the configuration", {"layers", "types", "ascend_records"});
  if (!HasKey(root, "layers") && !HasKey(root, "types") && !HasKey(root, "ascend_records")) {
    FailAt(root, "the configuration has neither 'layers' nor 'types'; add one");
  }
  QuantizeConfig config;
  config.where = where;
  if (HasKey(root, "layers")) ReadLayers(Child(root, "layers", "the configuration"), &config);
  if (HasKey(root, "types")) ReadTypeEntries(Child(root, "types", "the configuration"), &config);
  if (HasKey(root, "ascend_records")) {
    ReadRecords(Child(root, "ascend_records", "the configuration"), &config);
  }
  return config;
}

}  // namespace rshift
