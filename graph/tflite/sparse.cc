// The dimensions of a sparse tensor are levels of a tree, in the traversal order. Below each node
// of a dense level are all its indices; below node n of a sparse level those that the list of
// indices has from segments[n] to segments[n + 1]. The leaves are the stored elements, in order. A
// dimension may be divided into blocks: one level says which block, another one where in it.
#include "graph/tflite/sparse.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/shape.h"
#include "graph/onnx/tensor.h"
#include "graph/tflite/file.h"

namespace rshift::tflite {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 30;

struct Level {
  int64_t size = 0;    // how many indices there are
  int64_t weight = 0;  // elements of the dense tensor from one to the next
  bool dense = true;
  std::vector<int64_t> segments, indices;  // of a sparse level
};

class Reader {
 public:
  explicit Reader(const Tensor& tensor)
      : tensor_(tensor), sparsity_(*tensor.sparsity()), shape_(ShapeOf(tensor)) {}

  std::vector<Level> Levels() const {
    const std::vector<int> order = Indices(sparsity_.traversal_order());
    const std::vector<int> blocks = Indices(sparsity_.block_map());
    const auto* metadata = sparsity_.dim_metadata();
    const size_t rank = shape_.size(), count = rank + blocks.size();
    Check(metadata != nullptr && metadata->size() == count && order.size() == count,
          "lists of other lengths than its dimensions and blocks");
    std::vector<int> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (size_t d = 0; d < count; ++d)
      Check(sorted[d] == static_cast<int>(d), "a traversal order that is no permutation");
    const Shape block = BlockSizes(blocks, order);
    const Shape strides = Strides(shape_);
    std::vector<Level> levels;
    for (size_t l = 0; l < count; ++l) {
      const auto dim = static_cast<size_t>(order[l]);
      const bool inner = dim >= rank;
      const auto of = inner ? static_cast<size_t>(blocks[dim - rank]) : dim;
      Check(shape_[of] % block[of] == 0, "a dimension that its blocks do not fill");
      levels.push_back(ReadLevel(*metadata->Get(static_cast<unsigned>(l))));
      levels.back().size = inner ? block[of] : shape_[of] / block[of];
      levels.back().weight = inner ? strides[of] : strides[of] * block[of];
    }
    return levels;
  }

  template <typename... Args>
  void Check(bool ok, const Args&... args) const {
    RSHIFT_REQUIRE(ok, ErrorCode::kInvalidInput, "tensor ", Quoted(NameOf(tensor_)),
                   " is stored sparse with ", args..., "; the file is damaged");
  }

 private:
  // Of each dimension; 1 where it is not divided.
  Shape BlockSizes(const std::vector<int>& blocks, const std::vector<int>& order) const {
    Shape sizes(shape_.size(), 1);
    for (size_t b = 0; b < blocks.size(); ++b) {
      const int of = blocks[b];
      Check(of >= 0 && of < static_cast<int>(shape_.size()) && sizes[of] == 1,
            "blocks of dimension ", of);
      const auto level =
          std::find(order.begin(), order.end(), static_cast<int>(shape_.size() + b)) -
          order.begin();
      const auto& metadata = *sparsity_.dim_metadata()->Get(static_cast<unsigned>(level));
      sizes[of] = metadata.dense_size();
      Check(metadata.format() == DimensionType_DENSE && sizes[of] > 0, "blocks of ", sizes[of],
            " elements");
    }
    return sizes;
  }

  static std::vector<int64_t> Numbers(SparseIndexVector type, const void* list) {
    const auto copy = [&]<typename T>(const T* table) -> std::vector<int64_t> {
      if (table == nullptr || table->values() == nullptr) return {};
      return {table->values()->begin(), table->values()->end()};
    };
    switch (type) {
      case SparseIndexVector_Int32Vector:
        return copy(static_cast<const Int32Vector*>(list));
      case SparseIndexVector_Uint16Vector:
        return copy(static_cast<const Uint16Vector*>(list));
      case SparseIndexVector_Uint8Vector:
        return copy(static_cast<const Uint8Vector*>(list));
      default:
        return {};
    }
  }

  Level ReadLevel(const DimensionMetadata& metadata) const {
    Level level;
    level.dense = metadata.format() == DimensionType_DENSE;
    Check(level.dense || metadata.format() == DimensionType_SPARSE_CSR,
          "a dimension of unknown format ", static_cast<int>(metadata.format()));
    if (level.dense) return level;
    level.segments = Numbers(metadata.array_segments_type(), metadata.array_segments());
    level.indices = Numbers(metadata.array_indices_type(), metadata.array_indices());
    return level;
  }

  const Tensor& tensor_;
  const SparsityParameters& sparsity_;
  Shape shape_;
};

// Where the nodes below `places` are in the dense tensor.
std::vector<int64_t> Below(const std::vector<int64_t>& places, const Level& level, size_t most,
                           const Reader& reader) {
  std::vector<int64_t> below;
  const auto add = [&](int64_t place, int64_t index) {
    reader.Check(index >= 0 && index < level.size, "the index ", index, " of ", level.size);
    reader.Check(below.size() < most, "more elements than it has");
    below.push_back(place + index * level.weight);
  };
  if (level.dense) {
    for (const int64_t place : places)
      for (int64_t i = 0; i < level.size; ++i) add(place, i);
    return below;
  }
  reader.Check(level.segments.size() == places.size() + 1 && level.segments[0] == 0,
               level.segments.size(), " segments for ", places.size(), " parts");
  for (size_t p = 0; p < places.size(); ++p) {
    const int64_t end = level.segments[p + 1];
    reader.Check(end >= level.segments[p] && end <= static_cast<int64_t>(level.indices.size()),
                 "segments that end at ", end, " of ", level.indices.size());
    for (int64_t i = level.segments[p]; i < end; ++i)
      add(places[p], level.indices[static_cast<size_t>(i)]);
  }
  return below;
}

}  // namespace

std::string Densified(const Tensor& tensor, std::span<const uint8_t> stored,
                      int64_t element_bytes) {
  const int64_t count = NumElements(ShapeOf(tensor));
  RSHIFT_REQUIRE(count <= kMaxBytes / element_bytes, ErrorCode::kUnsupported, "tensor ",
                 Quoted(NameOf(tensor)), " is stored sparse and has ", count, " elements of ",
                 element_bytes, " bytes; at most ", kMaxBytes, " bytes are supported");
  const Reader reader(tensor);
  std::vector<int64_t> places = {0};
  // No level has more nodes than the dense tensor has elements.
  for (const Level& level : reader.Levels())
    places = Below(places, level, static_cast<size_t>(count), reader);
  const auto size = static_cast<size_t>(element_bytes);
  reader.Check(stored.size() == places.size() * size, stored.size(), " bytes, expected ",
               places.size() * size);
  std::string dense(static_cast<size_t>(count) * size, '\0');
  for (size_t i = 0; i < places.size(); ++i) {
    std::copy_n(stored.begin() + static_cast<int64_t>(i * size), size,
                dense.begin() + places[i] * element_bytes);
  }
  return dense;
}

}  // namespace rshift::tflite
