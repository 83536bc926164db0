// NonZero and Unique: lists with their length in front. One thread: where an entry goes depends on
// those before it. TopK: a heap of the places of a row's best elements, in dst itself.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "base/element_type.h"
#include "runtime/f32/makers.h"
#include "runtime/f32/step_tools.h"

namespace rshift::f32 {
namespace {

// bool: as the bytes that they are.
template <typename T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

// The maker of a step of src's element type; throws kUnsupported for types that have none in C++.
template <typename Make>
std::unique_ptr<Step> ForElements(const StepContext& context, const Make& make) {
  RequireType(context, Field::kSrc,
              {DType::kF32, DType::kS8, DType::kU8, DType::kS32, DType::kS64, DType::kBool});
  return VisitElement(context.Record(Field::kSrc).dtype, [&](auto type) -> std::unique_ptr<Step> {
    using T = ElementOf<decltype(type)>;
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, int8_t> ||
                  std::is_same_v<T, uint8_t> || std::is_same_v<T, int32_t> ||
                  std::is_same_v<T, int64_t> || std::is_same_v<T, bool>) {
      return make(std::type_identity<Stored<T>>());
    } else {
      return nullptr;  // not reached: RequireType
    }
  });
}

template <typename T>
std::unique_ptr<Step> NonZeroOf(const StepContext& context) {
  const T* in = context.In<T>(Field::kSrc);
  int64_t* out = context.Out<int64_t>(Field::kDst);
  const int64_t count = NumElements(context.Record(Field::kSrc).shape);
  return StepFrom([=](const Team& team) {
    if (team.index != 0) return;
    int64_t found = 0;
    for (int64_t i = 0; i < count; ++i) {
      if (in[i] != T{0}) out[++found] = i;
    }
    out[0] = found;
    std::fill(out + 1 + found, out + 1 + count, 0);
  });
}

// A NaN comes behind all numbers, and is like any other one.
template <typename T>
bool ElementLess(T a, T b) {
  if constexpr (std::is_same_v<T, float>) {
    if (a != a) return false;
    if (b != b) return true;
  }
  return a < b;
}

template <typename T>
class UniqueStep final : public Step {
 public:
  UniqueStep(const StepContext& context, bool sorted)
      : in_(context.In<T>(Field::kSrc)),
        out_(context.Out<int64_t>(Field::kDst)),
        rows_(context.Record(Field::kSrc).shape[0]),
        width_(context.Record(Field::kSrc).shape[1]),
        sorted_(sorted),
        order_(static_cast<size_t>(rows_)),
        places_(static_cast<size_t>(rows_)) {}

  void Run(const Team& team) noexcept override {
    if (team.index != 0) return;
    int64_t *first = out_ + 1, *inverse = first + rows_, *counts = inverse + rows_;
    std::fill(out_, out_ + 1 + 3 * rows_, 0);
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(), [this](int64_t a, int64_t b) {
      const int relation = Compare(a, b);
      return relation != 0 ? relation < 0 : a < b;
    });
    // Groups in ascending order: inverse has a row's group, first each group's first row.
    int64_t groups = 0;
    for (size_t i = 0; i < order_.size(); ++i) {
      if (i == 0 || Compare(order_[i - 1], order_[i]) != 0) first[groups++] = order_[i];
      inverse[order_[i]] = groups - 1;
    }
    if (!sorted_) InOrderOfAppearance(groups, first, inverse);
    for (int64_t row = 0; row < rows_; ++row) ++counts[inverse[row]];
    out_[0] = groups;
  }

  size_t memory_bytes() const override {
    return (order_.size() + places_.size()) * sizeof(int64_t);
  }

 private:
  // -1, 0, 1: of rows, element by element.
  int Compare(int64_t a, int64_t b) const {
    const T *x = in_ + a * width_, *y = in_ + b * width_;
    for (int64_t i = 0; i < width_; ++i) {
      if (ElementLess(x[i], y[i])) return -1;
      if (ElementLess(y[i], x[i])) return 1;
    }
    return 0;
  }

  void InOrderOfAppearance(int64_t groups, int64_t* first, int64_t* inverse) noexcept {
    int64_t next = 0;
    for (int64_t row = 0; row < rows_; ++row) {
      const auto group = static_cast<size_t>(inverse[row]);
      if (first[group] == row) places_[group] = next++;
    }
    for (int64_t row = 0; row < rows_; ++row)
      inverse[row] = places_[static_cast<size_t>(inverse[row])];
    std::sort(first, first + groups);
  }

  const T* in_;
  int64_t* out_;
  int64_t rows_, width_;
  bool sorted_;
  std::vector<int64_t> order_, places_;  // made here, since a run allocates nothing
};

// Element a of a row comes before element b. A total order, so that the best are the same ones
// however they are found.
template <typename T>
struct ComesBefore {
  const T* row;
  bool smallest;
  bool operator()(int64_t a, int64_t b) const {
    const T x = row[a], y = row[b];
    if (x == y) return a < b;
    if constexpr (std::is_same_v<T, float>) {
      const bool no_x = x != x, no_y = y != y;
      if (no_x || no_y) return no_x && no_y ? a < b : no_y;
    }
    return smallest ? x < y : x > y;
  }
};

template <typename T>
void FindBest(const ComesBefore<T>& before, int64_t n, int64_t* best, int64_t k) {
  std::iota(best, best + k, 0);
  std::make_heap(best, best + k, before);  // the last of them first
  for (int64_t i = k; i < n; ++i) {
    if (!before(i, best[0])) continue;
    std::pop_heap(best, best + k, before);
    best[k - 1] = i;
    std::push_heap(best, best + k, before);
  }
  std::sort_heap(best, best + k, before);
}

template <typename T>
std::unique_ptr<Step> TopKOf(const StepContext& context, bool smallest) {
  const T* in = context.In<T>(Field::kSrc);
  int64_t* out = context.Out<int64_t>(Field::kDst);
  const Shape& src = context.Record(Field::kSrc).shape;
  const int64_t rows = src[0], n = src[1], k = context.Record(Field::kDst).shape[1];
  if (rows * k == 0) return NothingToDo();
  return StepFrom([=](const Team& team) {
    const Range range = ThreadRange(rows, 1, team);
    for (int64_t r = range.begin; r < range.end; ++r)
      FindBest<T>({in + r * n, smallest}, n, out + r * k, k);
  });
}

}  // namespace

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::TopK& c) {
  const DType type = context.Record(Field::kSrc).dtype;
  return VisitElement(type, [&](auto identity) -> std::unique_ptr<Step> {
    using T = ElementOf<decltype(identity)>;
    if constexpr (std::is_void_v<T> || std::is_same_v<T, double>) {
      Fail(ErrorCode::kUnsupported, Where(context), ": ranks elements of type ", Name(type),
           ", expected f32, integers or bool");
    } else {
      return TopKOf<Stored<T>>(context, c.smallest);
    }
  });
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::NonZero&) {
  return ForElements(context,
                     [&](auto type) { return NonZeroOf<ElementOf<decltype(type)>>(context); });
}

std::unique_ptr<Step> MakeStep(const StepContext& context, const isa::Unique& c) {
  return ForElements(context, [&](auto type) -> std::unique_ptr<Step> {
    return std::make_unique<UniqueStep<ElementOf<decltype(type)>>>(context, c.sorted);
  });
}

}  // namespace rshift::f32
