#include "quantize/config.h"

#include "base/error.h"
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
  const bool says_something = layer.float32 || layer.threshold || layer.low || layer.high ||
                              layer.per_channel || layer.multiplier_bits;
  if (!says_something) {
    FailAt(part, what,
           " has no setting; give mode, threshold, low and high, per_channel or "
           "multiplier_bits, or leave it out");
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
              {"type", "mode", "threshold", "low", "high", "per_channel", "multiplier_bits"});
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
    CheckKeys(part, what, {"mode", "threshold", "low", "high", "per_channel", "multiplier_bits"});
    LayerConfig layer = ReadLayer(part, what);
    layer.line = entry.first.Mark().line + 1;
    config->types[name] = layer;
  }
}

}  // namespace

QuantizeConfig ReadQuantizeConfig(const std::string& yaml_text, const std::string& where) {
  const YamlPart root = ParseYaml(yaml_text, where);
  CheckKeys(root, "the configuration", {"layers", "types"});
  if (!HasKey(root, "layers") && !HasKey(root, "types")) {
    FailAt(root, "the configuration has neither 'layers' nor 'types'; add one");
  }
  QuantizeConfig config;
  config.where = where;
  if (HasKey(root, "layers")) ReadLayers(Child(root, "layers", "the configuration"), &config);
  if (HasKey(root, "types")) ReadTypeEntries(Child(root, "types", "the configuration"), &config);
  return config;
}

}  // namespace rshift
