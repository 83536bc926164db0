#include "target/target.h"

#include <algorithm>

#include "base/error.h"
#include "yaml/reader.h"

namespace rshift {
namespace {

CostModel ReadCost(const YamlPart& part) {
  CheckKeys(part, "cost", {});
  CostModel cost;
  for (const auto& entry : part.node) {
    const std::string key = entry.first.Scalar();
    double* value = FindCost(&cost, key);
    if (value == nullptr) {
      FailAt({entry.first, part.where}, "cost has an unknown key '", key,
             "'; known: ", CostKeyNames());
    }
    const YamlPart number{entry.second, part.where};
    *value = ReadDouble(number, "cost: " + key);
    if (!IsCost(*value)) FailAt(number, "cost: ", key, ": expected a number > 0 and <= 1e9");
  }
  return cost;
}

std::string ConvFormsNames() {
  std::string names;
  for (const ConvFormsKey& key : ConvFormsKeys()) names += Cat(names.empty() ? "" : ", ", key.name);
  return names;
}

ConvForms ReadConvForms(const YamlPart& part) {
  CheckKeys(part, "conv", {});
  ConvForms forms;
  for (const auto& entry : part.node) {
    const std::string name = entry.first.Scalar();
    const auto keys = ConvFormsKeys();
    const auto key = std::find_if(keys.begin(), keys.end(),
                                  [&](const ConvFormsKey& known) { return name == known.name; });
    if (key == keys.end()) {
      FailAt({entry.first, part.where}, "conv has an unknown key '", name,
             "'; known: ", ConvFormsNames());
    }
    const YamlPart number{entry.second, part.where};
    const int64_t value = ReadInt(number, "conv: " + name);
    if (value < key->least || value > key->most) {
      FailAt(number, "conv: ", name, " is ", value, ", expected an integer of ", key->least, " to ",
             key->most);
    }
    forms.*key->value = value;
  }
  return forms;
}

int ReadConvBits(const YamlPart& part) {
  const int64_t bits = ReadInt(part, "multiplier_bits: conv");
  for (const int known : {8, 16, 25, 32}) {
    if (bits == known) return known;
  }
  FailAt(part, "multiplier_bits: conv is ", bits, ", expected 8, 16, 25 or 32");
}

bool ReadUnsigned(const YamlPart& part) {
  const std::string type = ReadString(part, "activations");
  if (type != "u8" && type != "s8") {
    FailAt(part, "activations is '", type, "', expected s8 or u8");
  }
  return type == "u8";
}

}  // namespace

Target ReadTarget(const std::string& yaml_text, const std::string& where) {
  const YamlPart root = ParseYaml(yaml_text, where);
  CheckKeys(root, "the target",
            {"name", "multiplier_bits", "negative_multipliers", "per_channel_weights",
             "activations", "conv", "cost"});
  Target target;
  target.conv_multiplier_bits = 32;  // of a chip whose file does not say
  target.negative_multipliers = false;
  target.conv.reset();
  target.name = ReadString(Child(root, "name", "the target"), "name");
  if (HasKey(root, "multiplier_bits")) {
    const YamlPart bits = Child(root, "multiplier_bits", "the target");
    CheckKeys(bits, "multiplier_bits", {"add", "conv", "leaky_relu"});
    if (HasKey(bits, "add")) {
      target.add_multiplier_bits =
          ReadEither(Child(bits, "add", ""), "multiplier_bits: add", 8, 16);
    }
    if (HasKey(bits, "conv")) {
      target.conv_multiplier_bits = ReadConvBits(Child(bits, "conv", ""));
    }
    if (HasKey(bits, "leaky_relu")) {
      target.leaky_multiplier_bits =
          ReadEither(Child(bits, "leaky_relu", ""), "multiplier_bits: leaky_relu", 8, 16);
    }
  }
  if (HasKey(root, "negative_multipliers")) {
    target.negative_multipliers =
        ReadBool(Child(root, "negative_multipliers", ""), "negative_multipliers");
  }
  if (HasKey(root, "per_channel_weights")) {
    target.per_channel_weights =
        ReadBool(Child(root, "per_channel_weights", ""), "per_channel_weights");
  }
  if (HasKey(root, "activations")) {
    target.unsigned_activations = ReadUnsigned(Child(root, "activations", "the target"));
  }
  if (HasKey(root, "conv")) target.conv = ReadConvForms(Child(root, "conv", "the target"));
  if (HasKey(root, "cost")) target.cost = ReadCost(Child(root, "cost", "the target"));
  return target;
}

}  // namespace rshift
