// What an OpWriter reads: inputs, constant ones' elements, options, subgraphs.
#include <algorithm>
#include <cstring>
#include <utility>

#include "graph/tflite/known_values.h"
#include "graph/tflite/op.h"
#include "graph/tflite/tensor_types.h"

namespace rshift::tflite {

const Tensor& OpWriter::In(int i) const {
  Check(HasInput(i), "input ", i, " is missing");
  return state_.file.tensor(inputs_[i]);
}

const Tensor* OpWriter::Intermediate(size_t i) const {
  return i < intermediates_.size() ? &state_.file.tensor(intermediates_[i]) : nullptr;
}

bool OpWriter::IsFloat(int i) const {
  const TensorType type = In(i).type();
  return type == TensorType_FLOAT32 || type == TensorType_FLOAT16 || IsQuantized(In(i));
}

void OpWriter::CheckIntegers(int i, const std::string& what) const {
  const Tensor& tensor = In(i);
  const bool wide = tensor.type() == TensorType_INT64;
  Check(wide || tensor.type() == TensorType_INT32, what, " have type ",
        EnumNameTensorType(tensor.type()), ", expected INT32 or INT64");
  const size_t size = (wide ? 8 : 4) * static_cast<size_t>(NumElements(ShapeOf(tensor)));
  const size_t stored = state_.file.DataOf(tensor).size();
  Check(stored == size, what, " have ", stored, " bytes, expected ", size, "; the file is damaged");
}

std::vector<int64_t> OpWriter::Ints(int i, const char* role, size_t unread) const {
  const Tensor& tensor = In(i);
  const std::string what = Cat(role, " ", Quoted(NameOf(tensor)));
  if (IsConstant(i)) CheckIntegers(i, what);
  const std::optional<KnownInts> known = KnownValues(state_, inputs_[i]);
  CheckSupported(known.has_value(), what, " are computed from what the network reads, expected ",
                 "constants, or what follows from the sizes of tensors");
  std::vector<int64_t> elements;
  for (const std::optional<int64_t>& element : *known) {
    CheckSupported(element || elements.size() < unread, what,
                   " depend on dimensions that the file ",
                   "leaves open; fix these when it is converted (input_signature)");
    elements.push_back(element.value_or(0));
  }
  return elements;
}

bool OpWriter::Knows(int i) const {
  const std::optional<KnownInts> known = KnownValues(state_, inputs_[i]);
  return IsConstant(i) ||
         (known && std::all_of(known->begin(), known->end(), [](auto e) { return e.has_value(); }));
}

std::span<const uint8_t> OpWriter::CustomBytes() const {
  const auto* data = op_.custom_options();
  if (data == nullptr) return {};
  return {data->data(), data->size()};
}

std::vector<int32_t> OpWriter::CustomOptions(size_t count) const {
  const std::span<const uint8_t> bytes = CustomBytes();
  std::vector<int32_t> options(count);
  Check(bytes.size() >= count * 4, "has options of ", bytes.size(), " bytes, expected ", count * 4,
        " or more");
  std::memcpy(options.data(), bytes.data(), count * 4);
  return options;
}

int64_t OpWriter::Int(int i, const char* role) const {
  const std::vector<int64_t> elements = Ints(i, role);
  Check(elements.size() == 1, role, " ", Quoted(NameOf(In(i))), " has ", elements.size(),
        " elements, expected 1");
  return elements[0];
}

float OpWriter::FloatOf(int i, const char* role) const {
  const Tensor& tensor = In(i);
  CheckSupported(IsConstant(i) && tensor.type() == TensorType_FLOAT32, role, " ",
                 Quoted(NameOf(tensor)), " is no constant of type FLOAT32");
  const std::span<const uint8_t> data = state_.file.DataOf(tensor);
  float element = 0;
  Check(data.size() == sizeof element, role, " ", Quoted(NameOf(tensor)), " has ", data.size(),
        " bytes, expected ", sizeof element);
  std::memcpy(&element, data.data(), sizeof element);
  return element;
}

std::optional<BuiltinOperator> OpWriter::BodyOf(int subgraph) const {
  const SubGraph& body = state_.file.CheckedSubgraph(subgraph);
  const std::vector<int> in = Indices(body.inputs()), out = Indices(body.outputs());
  Check(in.size() == 2 && out.size() == 1, "its subgraph has ", in.size(), " inputs and ",
        out.size(), " outputs, expected 2 and 1");
  if (body.operators()->size() == 0 && out == std::vector{in[1]}) return {};
  CheckSupported(body.operators()->size() == 1, "its subgraph has ", body.operators()->size(),
                 " operators; one of two numbers is supported");
  const Operator& op = *body.operators()->Get(0);
  std::vector<int> read = Indices(op.inputs());
  if (read == std::vector{in[1], in[0]}) std::swap(read[0], read[1]);
  CheckSupported(read == in && Indices(op.outputs()) == out,
                 "the operator of its subgraph does not make the result of the two inputs");
  return state_.file.CodeOf(op);
}

}  // namespace rshift::tflite
