// What the steps of 16-bit commands share: where numbers lie, and what they are held to.
#ifndef RSHIFT_RUNTIME_STEPS_INT16_H_
#define RSHIFT_RUNTIME_STEPS_INT16_H_

#include <cstring>

#include "quantize/numerics/int16.h"
#include "runtime/kernels/int16.h"
#include "runtime/step.h"

namespace rshift {

inline NarrowType NarrowTypeOf(DType type) {
  return type == DType::kS16  ? NarrowType::kS16
         : type == DType::kS8 ? NarrowType::kS8
                              : NarrowType::kU8;
}

inline S16Bounds BoundsOf(const StepContext& context, const ClampQ& clamp) {
  return {context.Record(Field::kDst).zero_point, clamp.lo, clamp.hi};
}

// Numbers of a tensor, widened to 32 bits without its zero point.
class WidenedInput {
 public:
  WidenedInput(const StepContext& context, Field f)
      : data_(context.In<uint8_t>(f)),
        size_(static_cast<int64_t>(SizeOf(context.Record(f).dtype))),
        zero_(context.Record(f).zero_point),
        widen_(Int16LoopsFor(context.isa)
                   .widen[static_cast<size_t>(NarrowTypeOf(context.Record(f).dtype))]) {}
  void Read(int64_t at, int64_t n, int32_t* v) const noexcept {
    widen_(data_ + at * size_, zero_, n, v);
  }

 private:
  const uint8_t* data_;
  int64_t size_;
  int32_t zero_;
  void (*widen_)(const void*, int32_t, int64_t, int32_t*) noexcept;
};

// Results, narrowed to dst's type.
class NarrowedOutput {
 public:
  explicit NarrowedOutput(const StepContext& context)
      : data_(context.Out<uint8_t>(Field::kDst)),
        size_(static_cast<int64_t>(SizeOf(context.Record(Field::kDst).dtype))),
        type_(NarrowTypeOf(context.Record(Field::kDst).dtype)),
        narrow_(Int16LoopsFor(context.isa).narrow[static_cast<size_t>(type_)]) {}
  void Write(const int32_t* v, int64_t at, int64_t n) const noexcept { narrow_(v, n, At(at)); }
  uint8_t* At(int64_t at) const noexcept { return data_ + at * size_; }
  int64_t BytesOf(int64_t numbers) const noexcept { return numbers * size_; }
  NarrowType type() const noexcept { return type_; }

 private:
  uint8_t* data_;
  int64_t size_;
  NarrowType type_;
  void (*narrow_)(const int32_t*, int64_t, void*) noexcept;
};

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_STEPS_INT16_H_
