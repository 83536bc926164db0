// An index that cannot be mixed up with another kind of index: struct ValueTag; using ValueId =
// StrongId<ValueTag>.
#ifndef RSHIFT_BASE_STRONG_ID_H_
#define RSHIFT_BASE_STRONG_ID_H_

#include <compare>
#include <cstdint>

namespace rshift {

template <typename Tag>
class StrongId {
 public:
  constexpr StrongId() = default;
  constexpr explicit StrongId(int32_t index) : index_(index) {}
  constexpr int32_t index() const { return index_; }
  constexpr bool valid() const { return index_ >= 0; }
  friend constexpr auto operator<=>(const StrongId&, const StrongId&) =
      default;  // NOLINT: taken for a 0 of a pointer

 private:
  int32_t index_ = -1;
};

}  // namespace rshift

#endif  // RSHIFT_BASE_STRONG_ID_H_
