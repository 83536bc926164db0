#include "tools/carry.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/element_type.h"
#include "base/error.h"
#include "base/next_value.h"
#include "runtime/tensor_values.h"

namespace rshift {
namespace {

std::optional<size_t> Find(const std::vector<Binding>& bindings, const std::string& name) {
  for (size_t i = 0; i < bindings.size(); ++i)
    if (bindings[i].name == name) return i;
  return std::nullopt;
}

std::string NamesOf(const std::vector<Binding>& bindings) {
  std::string names;
  for (const Binding& binding : bindings)
    names += Cat(names.empty() ? "'" : ", '", binding.name, "'");
  return names;
}

CarriedInput Pair(const ProgramImage& image, size_t input, size_t output) {
  const TensorRecord& to = image.tensors[image.inputs[input].tensor];
  const TensorRecord& from = image.tensors[image.outputs[output].tensor];
  const auto describe = [](const TensorRecord& t) {
    return Cat(Name(t.dtype), " ", ToString(OnnxShape(t)),
               t.quantized ? Cat(" of scale ", t.scale, ", zero point ", t.zero_point) : "");
  };
  const std::string wanted = describe(to), found = describe(from);
  RSHIFT_REQUIRE(wanted == found, ErrorCode::kInvalidInput, "--carry: input '",
                 image.inputs[input].name, "' takes ", wanted, ", output '",
                 image.outputs[output].name, "' gives ", found,
                 "; only an output of the same type, shape and scale can be fed back");
  const auto count = static_cast<size_t>(NumElements(to.shape));
  const auto zero = static_cast<float>(to.quantized ? to.zero_point : 0);
  return {input, output, std::vector<float>(count, zero)};
}

CarriedInput ReadPair(const ProgramImage& image, const std::string& text) {
  // Names may hold '=': the one that divides the text into an input and an output counts.
  for (size_t at = text.find('='); at != std::string::npos; at = text.find('=', at + 1)) {
    const auto input = Find(image.inputs, text.substr(0, at));
    const auto output = Find(image.outputs, text.substr(at + 1));
    if (input && output) return Pair(image, *input, *output);
  }
  Fail(ErrorCode::kInvalidInput, "--carry ", text,
       ": expected INPUT=OUTPUT or auto; the program has the inputs ", NamesOf(image.inputs),
       " and the outputs ", NamesOf(image.outputs));
}

std::vector<CarriedInput> FindPairs(const ProgramImage& image) {
  std::vector<CarriedInput> carried;
  for (size_t i = 0; i < image.inputs.size(); ++i) {
    const auto output = Find(image.outputs, image.inputs[i].name + kNextValue);
    if (output) carried.push_back(Pair(image, i, *output));
  }
  RSHIFT_REQUIRE(!carried.empty(), ErrorCode::kInvalidInput,
                 "--carry auto: no input X has an output X", kNextValue,
                 " beside it; give INPUT=OUTPUT, of the inputs ", NamesOf(image.inputs),
                 " and the outputs ", NamesOf(image.outputs));
  return carried;
}

}  // namespace

std::vector<CarriedInput> ReadCarried(const ProgramImage& image,
                                      const std::vector<std::string>& texts) {
  std::vector<CarriedInput> carried;
  if (texts.size() == 1 && texts[0] == "auto") {
    carried = FindPairs(image);
  } else {
    for (const std::string& text : texts) carried.push_back(ReadPair(image, text));
  }
  std::sort(carried.begin(), carried.end(),
            [](const CarriedInput& a, const CarriedInput& b) { return a.input < b.input; });
  for (size_t i = 1; i < carried.size(); ++i) {
    RSHIFT_REQUIRE(carried[i - 1].input != carried[i].input, ErrorCode::kInvalidInput,
                   "--carry gives input '", image.inputs[carried[i].input].name,
                   "' two outputs; give each input once");
  }
  return carried;
}

Sample WithCarried(Sample sample, const std::vector<CarriedInput>& carried) {
  for (const CarriedInput& one : carried) {
    sample.inputs.insert(sample.inputs.begin() + static_cast<std::ptrdiff_t>(one.input), one.value);
  }
  return sample;
}

void Carry(const std::vector<NumpyArray>& raw_outputs, std::vector<CarriedInput>& carried) {
  for (CarriedInput& one : carried) {
    const NumpyArray& array = raw_outputs[one.output];
    VisitElement(array.dtype, [&](auto type) {
      using T = ElementOf<decltype(type)>;
      if constexpr (std::is_arithmetic_v<T>) {
        for (size_t i = 0; i < one.value.size(); ++i) {
          T element;
          std::memcpy(&element, array.bytes.data() + i * sizeof(T), sizeof(T));
          one.value[i] = static_cast<float>(element);
        }
      }
    });
  }
}

}  // namespace rshift
