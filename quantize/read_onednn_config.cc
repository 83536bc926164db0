#include "quantize/read_onednn_config.h"

#include <array>
#include <filesystem>
#include <sstream>

#include "base/atomic_file.h"
#include "base/error.h"

namespace rshift {
namespace {

constexpr int64_t kOneScale = 0, kPerChannel = 1 << 1, kPerGroupAndChannel = 1 << 0 | 1 << 1;

std::vector<float> ReadNumbers(const YamlPart& part, const std::string& what) {
  if (!part.node.IsSequence()) return {ReadFloat(part, what)};
  std::vector<float> numbers;
  for (const auto& item : part.node) numbers.push_back(ReadFloat({item, part.where}, what));
  return numbers;
}

// Numbers between blanks, in a file beside the configuration.
std::vector<float> ReadNumberFile(const YamlPart& part, const std::string& what) {
  const std::string path =
      (std::filesystem::path(part.where).parent_path() / ReadString(part, what)).string();
  std::istringstream words(ReadTextFile(path));
  std::vector<float> numbers;
  for (std::string word; words >> word;) {
    float number = 0;
    RSHIFT_REQUIRE(ParseFloat(word, &number), ErrorCode::kInvalidInput, path, ": '", word,
                   "', expected finite numbers between blanks");
    numbers.push_back(number);
  }
  return numbers;
}

void ReadOutputScales(const YamlPart& part, const std::string& what, OneDnnConfig* config) {
  CheckKeys(part, what, {"mask", "values", "file"});
  config->mask = ReadInt(Child(part, "mask", what), what + ": mask");
  const bool known = config->mask == kOneScale || config->mask == kPerChannel ||
                     config->mask == kPerGroupAndChannel;
  if (!known) {
    FailAt(part, what, ": mask is ", config->mask,
           ", expected 0 (one scale), 2 (1 << 1, one for each output channel) or 3 ((1 << 0) | (1 "
           "<< 1), for each group and output channel): no other dimension has scales of its own "
           "here; put a Mul behind the layer");
  }
  if (HasKey(part, "values") == HasKey(part, "file")) {
    FailAt(part, what, ": give values or file, one of them");
  }
  config->output_scales = HasKey(part, "values")
                              ? ReadNumbers(Child(part, "values", what), what + ": values")
                              : ReadNumberFile(Child(part, "file", what), what + ": file");
  if (config->output_scales.empty()) FailAt(part, what, " has no numbers");
  for (const float scale : config->output_scales) {
    if (!(scale > 0)) FailAt(part, what, ": a scale is ", scale, ", expected a number > 0");
  }
  if (config->mask == kOneScale && config->output_scales.size() != 1) {
    FailAt(part, what, ": ", config->output_scales.size(), " scales with mask 0, expected one");
  }
}

struct PostOpName {
  const char* name;
  PostOpKind kind;
};
constexpr std::array kPostOps = {
    PostOpName{"relu", PostOpKind::kRelu},         PostOpName{"tanh", PostOpKind::kTanh},
    PostOpName{"linear", PostOpKind::kLinear},     PostOpName{"clip", PostOpKind::kClip},
    PostOpName{"logistic", PostOpKind::kLogistic}, PostOpName{"elu", PostOpKind::kElu},
    PostOpName{"abs", PostOpKind::kAbs},           PostOpName{"sqrt", PostOpKind::kSqrt},
    PostOpName{"square", PostOpKind::kSquare}};

PostOp ReadPostOp(const YamlPart& part, const std::string& what) {
  CheckKeys(part, what, {"op", "alpha", "beta", "scale"});
  const std::string name = ReadString(Child(part, "op", what), what + ": op");
  std::string names;
  for (const PostOpName& known : kPostOps) {
    names += (names.empty() ? "" : ", ") + std::string(known.name);
    if (name != known.name) continue;
    PostOp op{.kind = known.kind, .alpha = 0, .beta = 0, .scale = 1};
    const auto read = [&](const char* key, float* value) {
      if (HasKey(part, key)) *value = ReadFloat(Child(part, key, what), what + ": " + key);
    };
    read("alpha", &op.alpha);
    read("beta", &op.beta);
    read("scale", &op.scale);
    return op;
  }
  FailAt(part, what, ": op is '", name, "', expected one of ", names,
         " (sum is the model's own Add)");
}

}  // namespace

OneDnnConfig ReadOneDnnConfig(const YamlPart& part, const std::string& what) {
  CheckKeys(part, what, {"output_scales", "post_ops", "dst"});
  OneDnnConfig config;
  if (HasKey(part, "dst")) {
    const YamlPart dst = Child(part, "dst", what);
    const std::string type = ReadString(dst, what + ": dst");
    if (type != "f32") {
      FailAt(
          dst, what, ": dst is '", type,
          "', expected f32; s8 and u8 follow from the tensor's range, s32 is not kept: f32 is the "
          "same sums times their scale");
    }
    config.real_dst = true;
  }
  if (HasKey(part, "output_scales")) {
    ReadOutputScales(Child(part, "output_scales", what), what + ": output_scales", &config);
  }
  if (HasKey(part, "post_ops")) {
    const YamlPart list = Child(part, "post_ops", what);
    if (!list.node.IsSequence() || list.node.size() == 0) {
      FailAt(list, what, ": post_ops is not a list of operations");
    }
    for (const auto& item : list.node) {
      config.post_ops.push_back(ReadPostOp({item, part.where}, what + ": post_ops"));
    }
  }
  if (config.empty()) FailAt(part, what, " has no setting; leave it out");
  return config;
}

}  // namespace rshift
