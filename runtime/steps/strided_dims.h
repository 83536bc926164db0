// Dimensions of a strided view, and a walk over all their indices.
#ifndef RSHIFT_RUNTIME_STEPS_STRIDED_DIMS_H_
#define RSHIFT_RUNTIME_STEPS_STRIDED_DIMS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rshift {

struct StridedDim {
  int64_t size = 0;
  int64_t stride = 0;      // bytes in src
  int64_t dst_stride = 0;  // bytes in dst, which has room for every element
};

// A Tile has two dimensions for each of the tensor's eight; blocks add two more.
inline constexpr size_t kMaxStridedDims = 18;

// The offsets of one index after the other, the last dimension fastest, without a division for
// each.
class StridedWalk {
 public:
  StridedWalk(const std::vector<StridedDim>& dims, int64_t item) : dims_(dims) {
    for (size_t d = dims.size(); d-- > 0;) {
      index_[d] = item % dims[d].size;
      item /= dims[d].size;
      src_ += index_[d] * dims[d].stride;
      dst_ += index_[d] * dims[d].dst_stride;
    }
  }
  int64_t src() const { return src_; }
  int64_t dst() const { return dst_; }
  int64_t index(size_t d) const { return index_[d]; }
  void Next() {
    for (size_t d = dims_.size(); d-- > 0;) {
      const StridedDim& dim = dims_[d];
      src_ += dim.stride;
      dst_ += dim.dst_stride;
      if (++index_[d] < dim.size) return;
      src_ -= dim.size * dim.stride;
      dst_ -= dim.size * dim.dst_stride;
      index_[d] = 0;
    }
  }

 private:
  const std::vector<StridedDim>& dims_;
  std::array<int64_t, kMaxStridedDims> index_{};
  int64_t src_ = 0, dst_ = 0;
};

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_STEPS_STRIDED_DIMS_H_
