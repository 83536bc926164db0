// docs/integer_forms.md: what has an integer form under which profile, and why the rest has none.
// RSHIFT_UPDATE_DOCS=1 writes it; the test fails when it differs.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "base/atomic_file.h"
#include "isa/function_names.h"
#include "quantize/ops/ops.h"
#include "tests/quantize/little_graph.h"

namespace rshift::test {
namespace {

// One form of an operator, with an input of each kind it needs.
struct Form {
  std::string name;
  Op op;
  std::vector<Shape> activations;
  std::vector<Shape> constants{};  // behind the activations
  Shape result = {1, 8, 8, 4};
};

using Forms = std::vector<Form>;
const Shape kImage = {1, 8, 8, 4};

// --- a function for each operator: one that is added does not compile without it
Forms FormsOf(std::type_identity<Conv>) {
  return {{"constant weights", Conv{}, {kImage}, {{4, 4, 1, 1}}},
          {"computed weights", Conv{}, {kImage, {4, 4, 1, 1}}}};
}
Forms FormsOf(std::type_identity<ConvTranspose>) {
  return {{"constant weights", ConvTranspose{}, {kImage}, {{4, 4, 1, 1}}},
          {"computed weights", ConvTranspose{}, {kImage, {4, 4, 1, 1}}}};
}
Forms FormsOf(std::type_identity<MatMul>) {
  return {{"constant weights", MatMul{}, {{8, 4}}, {{4, 6}}, {8, 6}},
          {"two activations", MatMul{}, {{8, 4}, {4, 6}}, {}, {8, 6}}};
}
Forms FormsOf(std::type_identity<MaxPool>) { return {{"", MaxPool{}, {kImage}}}; }
Forms FormsOf(std::type_identity<AveragePool>) {
  AveragePool pads;
  pads.window = {3, 3, 1, 1};
  pads.window.pad_top = pads.window.pad_bottom = 1;
  AveragePool counting = pads;
  counting.count_include_pad = true;
  return {{"", AveragePool{}, {kImage}},
          {"pads", pads, {kImage}},
          {"pads that count", counting, {kImage}}};
}
Forms FormsOf(std::type_identity<Binary>) {
  Forms forms;
  for (int i = 0; i < kBinaryOpCount; ++i) {
    const auto op = static_cast<BinaryOp>(i);
    if (op == BinaryOp::kAnd || op == BinaryOp::kOr || op == BinaryOp::kXor) continue;  // of bool
    forms.push_back({"two tensors", Binary{op, {}}, {kImage, kImage}});
    forms.push_back({"a tensor and a number", Binary{op, {}}, {kImage}, {{1}}});
  }
  return forms;
}
Forms FormsOf(std::type_identity<Where>) { return {{"", Where{}, {kImage, kImage, kImage}}}; }
Forms FormsOf(std::type_identity<Clip>) { return {{"", Clip{}, {kImage}}}; }
Forms FormsOf(std::type_identity<LeakyRelu>) { return {{"", LeakyRelu{}, {kImage}}}; }
Forms FormsOf(std::type_identity<PRelu>) {
  return {{"one slope", PRelu{}, {kImage}, {{1}}},
          {"slopes of channels", PRelu{}, {kImage}, {{4}}},
          {"slopes of elements", PRelu{}, {kImage}, {{8, 8, 4}}},
          {"computed slopes", PRelu{}, {kImage, kImage}}};
}
Forms FormsOf(std::type_identity<Unary>) {
  Forms forms;
  for (int i = 0; i < kUnaryOpCount; ++i) {
    forms.push_back({"", Unary{static_cast<UnaryOp>(i)}, {kImage}});
  }
  return forms;
}
Forms FormsOf(std::type_identity<BatchNorm>) { return {}; }     // removed by the passes
Forms FormsOf(std::type_identity<FakeQuantize>) { return {}; }  // its types are taken
Forms FormsOf(std::type_identity<LayerNorm>) {
  return {{"", LayerNorm{.axis = 3}, {kImage}, {{4}, {4}}},
          {"", LayerNorm{.axis = 3, .rms = true}, {kImage}, {{4}, {4}}}};
}
Forms FormsOf(std::type_identity<InstanceNorm>) {
  return {{"", InstanceNorm{}, {kImage}, {{4}, {4}}}};
}
Forms FormsOf(std::type_identity<Lrn>) { return {{"", Lrn{.axis = 3}, {kImage}}}; }
Forms FormsOf(std::type_identity<Softmax>) {
  return {{"last axis", Softmax{.axis = 3}, {kImage}},
          {"another axis", Softmax{.axis = 1}, {kImage}},
          {"last axis", Softmax{.axis = 3, .log = true}, {kImage}},
          {"another axis", Softmax{.axis = 1, .log = true}, {kImage}}};
}
Forms FormsOf(std::type_identity<Reduce>) {
  Forms forms = {{"height and width", Reduce{ReduceOp::kMean, {1, 2}}, {kImage}, {}, {1, 1, 1, 4}}};
  for (int i = 0; i < kReduceOpCount; ++i) {
    forms.push_back({i == 0 ? "other axes" : "",
                     Reduce{static_cast<ReduceOp>(i), {3}},
                     {kImage},
                     {},
                     {1, 8, 8, 1}});
  }
  return forms;
}
Forms FormsOf(std::type_identity<ArgMax>) {
  return {{"", ArgMax{.axis = 3}, {kImage}, {}, {1, 8, 8, 1}}};
}
Forms FormsOf(std::type_identity<NonMaxSuppression>) {
  return {{"", NonMaxSuppression{.most = 1}, {{1, 8, 4}, {1, 2, 8}}, {}, {3, 3}}};
}
Forms FormsOf(std::type_identity<NonZero>) { return {{"", NonZero{}, {{4}}, {}, {5}}}; }
Forms FormsOf(std::type_identity<TopK>) { return {{"", TopK{}, {{4, 9}}, {}, {4, 3}}}; }
Forms FormsOf(std::type_identity<Unique>) { return {{"", Unique{}, {{4, 2}}, {}, {13}}}; }
Forms FormsOf(std::type_identity<Resize>) {
  Forms forms;
  for (int i = 0; i < kResizeModeCount; ++i) {
    Resize op;
    op.mode = static_cast<ResizeMode>(i);
    op.cubic_a = -0.75f;
    op.scales = {1, 2, 2, 1};
    forms.push_back({Name(op.mode), op, {kImage}, {}, {1, 16, 16, 4}});
  }
  Resize cube;
  cube.mode = ResizeMode::kLinear;
  cube.scales = {1, 2, 2, 2};
  forms.push_back({"linear, three dimensions", cube, {kImage}, {}, {1, 16, 16, 8}});
  return forms;
}
Forms FormsOf(std::type_identity<Gather>) {
  return {{"constant indices", Gather{}, {kImage}, {{1}}, {1, 8, 8, 4}},
          {"computed indices", Gather{}, {kImage, {1}}}};
}
template <typename T>
concept Movement = std::same_as<T, Identity> || std::same_as<T, Reshape> ||
    std::same_as<T, Transpose> || std::same_as<T, Concat> || std::same_as<T, Slice> ||
    std::same_as<T, Pad> || std::same_as<T, Expand> || std::same_as<T, Tile> ||
    std::same_as<T, DepthToSpace> || std::same_as<T, SpaceToDepth>;
template <Movement T>
Forms FormsOf(std::type_identity<T>) {
  return {{"", T{}, {kImage}}};
}
Forms FormsOf(std::type_identity<Cast>) { return {}; }  // between types

// The operators of float graphs come first in the variant, Cast is the last of them.
template <size_t I = 0>
void AppendForms(Forms* forms) {
  using T = std::variant_alternative_t<I, OpVariant>;
  const Forms own = FormsOf(std::type_identity<T>{});
  forms->insert(forms->end(), own.begin(), own.end());
  if constexpr (!std::is_same_v<T, Cast>) AppendForms<I + 1>(forms);
}

LittleGraph GraphOf(const Form& form) {
  LittleGraph little;
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < form.activations.size(); ++i) {
    inputs.push_back(little.Input(Cat("x", i), form.activations[i]));
  }
  for (size_t i = 0; i < form.constants.size(); ++i) {
    inputs.push_back(little.RandomConstant(Cat("c", i), form.constants[i], 0.1f, 1.0f));
  }
  little.Output(little.Add("y", form.op, inputs, form.result));
  return little;
}

OpSupport Support(const Form& form, ProfileId profile) {
  const LittleGraph little = GraphOf(form);
  return IntegerSupport(little.graph(), little.graph().nodes()[0], {profile});
}

bool HasSixteenBits(const Form& form) {
  const LittleGraph little = GraphOf(form);
  return HasInt16Form(little.graph(), little.graph().nodes()[0]);
}

std::string NameOf(const Form& form) {
  return Cat(OpName(form.op), form.name.empty() ? "" : ", ", form.name);
}

std::string Text() {
  Forms forms;
  AppendForms<>(&forms);
  std::string everywhere, rows, bytes;
  for (const Form& form : forms) {
    std::map<std::string, std::string> profiles_by_reason;
    int integer = 0;
    for (int id = 0; id < kProfileCount; ++id) {
      const auto profile = static_cast<ProfileId>(id);
      const OpSupport support = Support(form, profile);
      integer += support.kind != OpKind::kFloat;
      if (support.kind != OpKind::kFloat) continue;
      std::string& list = profiles_by_reason[support.reason];
      list += Cat(list.empty() ? "" : ", ", Name(profile));
    }
    const bool in_tpu = Support(form, ProfileId::kTpu).kind != OpKind::kFloat;
    if (in_tpu && !HasSixteenBits(form)) bytes += Cat("- ", NameOf(form), "\n");
    if (integer == kProfileCount) everywhere += Cat("- ", NameOf(form), "\n");
    for (const auto& [reason, profiles] : profiles_by_reason) {
      const bool all = profiles_by_reason.size() == 1 && integer == 0;
      rows += Cat("| ", NameOf(form), " | ", all ? "all" : profiles, " | ", reason, " |\n");
    }
  }
  return Cat(
      "# Integer forms\n\n"
      "Made from `IntegerSupport` (`quantize/ops`) over every operator by "
      "`quantize_support_table_test`, which fails when\n"
      "this file differs (`RSHIFT_UPDATE_DOCS=1 bin/quantize_support_table_test` writes it anew). "
      "Symmetric and asymmetric\n"
      "modes have the same forms. What has one stays F32 all the same among F32 neighbours, where "
      "`--config` says so, and\n"
      "where calibration saw a mask of -inf; `model_tool support` answers for a model. Formulas: "
      "`quantize/NUMERICS.md`.\n\n"
      "## F32\n\n| operator | under the profiles | reason |\n|---|---|---|\n",
      rows, "\n## Integer under every profile\n\n", everywhere,
      "\n## 8 bits beside activations of 16 (profile tpu)\n\n"
      "What is integer there reads and writes 16 bits where it is asked for them "
      "([int16.md](int16.md)), but for\nrows of a Softmax of more than 8,192 elements, products of "
      "two "
      "activations of more than 65,536 terms, pools and\nreductions of more than 2^20 elements",
      bytes.empty() ? ".\n" : Cat(", and:\n\n", bytes),
      "\n## LSTM and GRU\n\n"
      "Unrolled into the operators above, under every profile. In tpu their steps are cells with a "
      "16-bit state\n(section 28; section 29.9 with 16-bit inputs and outputs), whoever wrote "
      "them: "
      "ONNX's operators or an exporter. Without a "
      "cell, each operator 8 bits: peepholes,\nclip, coupled gates (input_forget), other "
      "activations, lengths of sequences that differ, RNN "
      "(`tests/e2e/test_recurrent_integer.py`).\n"
      "An LSTM of a .tflite file that is integers throughout is LiteRT's integer kernel under "
      "every "
      "profile, and with\n`--mode f32` (section 31, `tests/e2e/test_tflite_integer_lstm.py`).\n");
}

TEST(SupportTable, TheDocumentSaysWhatTheCodeDoes) {
  const char* root = std::getenv("RSHIFT_SOURCE_DIR");
  const std::string path = Cat(root != nullptr ? root : "..", "/docs/integer_forms.md");
  const std::string expected = Text();
  if (std::getenv("RSHIFT_UPDATE_DOCS") != nullptr) WriteFileAtomic(path, expected);
  EXPECT_EQ(ReadTextFile(path), expected) << "run this test with RSHIFT_UPDATE_DOCS=1";
}

}  // namespace
}  // namespace rshift::test
