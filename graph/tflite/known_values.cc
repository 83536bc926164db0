#include "graph/tflite/known_values.h"

#include <algorithm>
#include <cstring>

#include "graph/tflite/tensor_types.h"

namespace rshift::tflite {
namespace {

constexpr int64_t kLongest = 64;                // elements of a list that is followed
constexpr int64_t kLargest = int64_t{1} << 31;  // so that no product of two leaves 64 bits

using Known = std::optional<int64_t>;

// Sizes of a tensor; where --input-shape binds open dimensions, those are not what the file says.
KnownInts SizesOf(const Tensor& tensor, bool open) {
  const Shape shape = ShapeOf(tensor);
  KnownInts sizes(shape.begin(), shape.end());
  const auto* signature = tensor.shape_signature();
  if (!open || signature == nullptr || signature->size() != sizes.size()) return sizes;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (signature->Get(static_cast<uint32_t>(d)) < 0) sizes[d].reset();
  }
  return sizes;
}

// What the operators below read of their call.
struct Inputs {
  const Call& call;
  const Translation& state;
  std::vector<std::optional<KnownInts>> lists;

  bool all() const {
    return std::all_of(lists.begin(), lists.end(), [](const auto& list) { return list; });
  }
  int64_t RankOf(size_t i) const {
    return static_cast<int64_t>(ShapeOf(state.file.tensor(call.inputs[i])).size());
  }
};

std::optional<KnownInts> Joined(const Inputs& in) {
  if (!in.all()) return {};
  KnownInts joined;
  for (const auto& list : in.lists) joined.insert(joined.end(), list->begin(), list->end());
  return joined;
}

// One part of a list; whole dimensions are neither added nor left out but by one place.
std::optional<KnownInts> StridedPart(const Inputs& in) {
  const auto* options = in.call.op->builtin_options_as<StridedSliceOptions>();
  if (options == nullptr || !in.all() || in.lists.size() < 4 || in.RankOf(0) != 1) return {};
  if (options->ellipsis_mask() != 0 || options->new_axis_mask() != 0 || options->offset())
    return {};
  for (size_t i = 1; i < 4; ++i) {
    if (in.lists[i]->size() != 1 || !in.lists[i]->front()) return {};
  }
  const KnownInts& list = *in.lists[0];
  const auto size = static_cast<int64_t>(list.size());
  const auto place = [&](int64_t p) { return std::clamp<int64_t>(p < 0 ? p + size : p, 0, size); };
  const int64_t begin = options->begin_mask() != 0 ? 0 : place(*in.lists[1]->front());
  int64_t end = options->end_mask() != 0 ? size : place(*in.lists[2]->front());
  if (options->shrink_axis_mask() != 0) end = std::min(begin + 1, size);
  if (*in.lists[3]->front() != 1) return {};
  return KnownInts(list.begin() + begin, list.begin() + std::max(begin, end));
}

// Of one list, by constant places.
std::optional<KnownInts> Gathered(const Inputs& in) {
  const auto* options = in.call.op->builtin_options_as<GatherOptions>();
  if (!in.all() || in.lists.size() != 2 || in.RankOf(0) != 1) return {};
  if (options != nullptr && (options->axis() > 0 || options->batch_dims() != 0)) return {};
  KnownInts found;
  for (const Known& place : *in.lists[1]) {
    if (!place || *place < 0 || *place >= static_cast<int64_t>(in.lists[0]->size())) return {};
    found.push_back((*in.lists[0])[static_cast<size_t>(*place)]);
  }
  return found;
}

std::optional<KnownInts> Combined(BuiltinOperator code, const Inputs& in) {
  if (!in.all() || in.lists.size() != 2) return {};
  const KnownInts &a = *in.lists[0], &b = *in.lists[1];
  if (a.empty() || b.empty() || (a.size() != b.size() && a.size() != 1 && b.size() != 1)) return {};
  if (std::max(in.RankOf(0), in.RankOf(1)) > 1) return {};
  KnownInts result(std::max(a.size(), b.size()));
  for (size_t i = 0; i < result.size(); ++i) {
    result[i] = CombinedInts(code, a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]);
  }
  return result;
}

std::optional<KnownInts> Product(const Inputs& in) {
  if (in.lists.empty() || !in.lists[0] || in.RankOf(0) != 1) return {};
  Known product = 1;
  for (const Known& element : *in.lists[0]) {
    product = CombinedInts(BuiltinOperator_MUL, product, element);
  }
  return KnownInts{product};
}

std::optional<KnownInts> ResultOf(BuiltinOperator code, const Inputs& in) {
  const Translation& state = in.state;
  switch (code) {
    case BuiltinOperator_SHAPE:
      return SizesOf(state.file.tensor(in.call.inputs[0]), state.opens);
    case BuiltinOperator_RESHAPE:
    case BuiltinOperator_SQUEEZE:
    case BuiltinOperator_EXPAND_DIMS:
    case BuiltinOperator_CAST:  // to another integer; what results is checked for its type
      return in.lists[0];
    case BuiltinOperator_PACK:
      return std::all_of(in.lists.begin(), in.lists.end(),
                         [](const auto& list) { return list && list->size() == 1; })
                 ? Joined(in)
                 : std::nullopt;
    case BuiltinOperator_CONCATENATION:
      return in.RankOf(0) == 1 ? Joined(in) : std::nullopt;
    case BuiltinOperator_STRIDED_SLICE:
      return StridedPart(in);
    case BuiltinOperator_GATHER:
      return Gathered(in);
    case BuiltinOperator_REDUCE_PROD:
      return Product(in);
    default:
      return Combined(code, in);
  }
}

bool IsShortList(const Tensor& tensor) {
  return (tensor.type() == TensorType_INT32 || tensor.type() == TensorType_INT64) &&
         !IsQuantized(tensor) && NumElements(ShapeOf(tensor)) <= kLongest;
}

}  // namespace

std::optional<int64_t> CombinedInts(BuiltinOperator code, std::optional<int64_t> a,
                                    std::optional<int64_t> b) {
  const auto is_small = [](Known x) { return x && *x >= -kLargest && *x <= kLargest; };
  if (!is_small(a) || !is_small(b)) return {};
  switch (code) {
    case BuiltinOperator_ADD:
      return *a + *b;
    case BuiltinOperator_SUB:
      return *a - *b;
    case BuiltinOperator_MUL:
      return *a * *b;
    case BuiltinOperator_MAXIMUM:
      return std::max(*a, *b);
    case BuiltinOperator_MINIMUM:
      return std::min(*a, *b);
    case BuiltinOperator_DIV:
    case BuiltinOperator_FLOOR_DIV:  // alike where both are positive
      return *a >= 0 && *b > 0 ? Known(*a / *b) : Known();
    default:
      return {};
  }
}

std::optional<KnownInts> StoredInts(const File& file, const Tensor& tensor) {
  const std::span<const uint8_t> data = file.DataOf(tensor);
  const bool wide = tensor.type() == TensorType_INT64;
  const size_t size = wide ? 8 : 4, count = static_cast<size_t>(NumElements(ShapeOf(tensor)));
  if ((!wide && tensor.type() != TensorType_INT32) || data.size() != count * size) return {};
  KnownInts elements(count);
  for (size_t k = 0; k < count; ++k) {
    int64_t element = 0;
    int32_t narrow = 0;
    std::memcpy(wide ? static_cast<void*>(&element) : &narrow, data.data() + k * size, size);
    elements[k] = wide ? element : narrow;
  }
  return elements;
}

std::optional<KnownInts> KnownValues(const Translation& state, int index) {
  if (!state.computed[index]) return StoredInts(state.file, state.file.tensor(index));
  const auto found = state.known.find(index);
  return found == state.known.end() ? std::nullopt : std::optional(found->second);
}

void NoteKnownValues(const Call& call, Translation& state) {
  if (call.outputs.size() != 1 || call.inputs.empty()) return;
  const Tensor& result = state.file.tensor(call.outputs[0]);
  if (!IsShortList(result)) return;
  const BuiltinOperator code = state.file.CodeOf(*call.op);
  Inputs in{call, state, {}};
  for (const int i : call.inputs) {
    if (i < 0) return;
    const bool read = code != BuiltinOperator_SHAPE && IsShortList(state.file.tensor(i));
    in.lists.push_back(read ? KnownValues(state, i) : std::nullopt);
  }
  const std::optional<KnownInts> found = ResultOf(code, in);
  if (!found || static_cast<int64_t>(found->size()) != NumElements(ShapeOf(result))) return;
  state.known.insert_or_assign(call.outputs[0], *found);
}

}  // namespace rshift::tflite
