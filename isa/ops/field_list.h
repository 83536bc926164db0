// How a command's struct is bound to the fields of the file. A struct has
//
//   RSHIFT_COMMAND(kCast, "cast", kFloat, "one line for ISA.md", .buffers = BufferForm::kNone,
//                  .element_ns = 0.2)
//   static constexpr void Fields(auto& c, auto&& visit) {
//     visit(In(Field::kSrc), c.src);
//     ...
//   }
//
// which says what it is, with its traits (OpTraits), and names its fields in the order of the
// presence mask (append only), each with its kind, its range and the member that holds it. The
// instruction table, Read and Write are made from that.
#ifndef RSHIFT_ISA_OPS_FIELD_LIST_H_
#define RSHIFT_ISA_OPS_FIELD_LIST_H_

#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/error.h"
#include "isa/attributes.h"
#include "isa/isa.h"

namespace rshift::isa {

// Index into the program's tensor table.
using Tensor = int32_t;
inline constexpr Tensor kAbsent = -1;

inline constexpr int64_t kMaxWindow = int64_t{1} << 20;
inline constexpr int64_t kMaxDim = int64_t{1} << 40;
inline constexpr int64_t kInt32Min = std::numeric_limits<int32_t>::min();
inline constexpr int64_t kInt32Max = std::numeric_limits<int32_t>::max();

#define RSHIFT_COMMAND(opcode, name, op_class, summary, ...) \
  static constexpr Opcode kOpcode = Opcode::opcode;          \
  static constexpr const char* kName = name;                 \
  static constexpr OpClass kClass = OpClass::op_class;       \
  static constexpr const char* kSummary = summary;           \
  static constexpr OpTraits kTraits = {__VA_ARGS__};

// --- one field ---
constexpr FieldSpec Int(Field field, int64_t lo, int64_t hi) {
  return {field, FieldKind::kInt, lo, hi};
}
constexpr FieldSpec Float(Field field) { return {field, FieldKind::kFloat}; }
constexpr FieldSpec Out(Field field) { return {field, FieldKind::kTensorOut}; }
constexpr FieldSpec In(Field field) { return {field, FieldKind::kTensorIn}; }
constexpr FieldSpec Optional(Field field) { return {field, FieldKind::kTensorInOpt}; }
constexpr FieldSpec Const(Field field) { return {field, FieldKind::kConst}; }
constexpr FieldSpec OptionalConst(Field field) { return {field, FieldKind::kConstOpt}; }
// May be a view: the command walks it row by row, with unaligned accesses.
constexpr FieldSpec View(FieldSpec spec) {
  spec.view = true;
  return spec;
}
// One of the functions of isa/functions.def, of which there are `count`.
constexpr FieldSpec Choice(Field field, int count) { return Int(field, 0, count - 1); }
constexpr FieldSpec Mode(int count) { return Choice(Field::kMode, count); }
// As many bits as the visit has bools.
constexpr FieldSpec Flags(int count) { return Int(Field::kFlags, 0, (int64_t{1} << count) - 1); }

// --- attributes of several fields ---
// Destination and source that may be views; the same of dense ones.
constexpr void ViewFields(auto& c, auto&& visit) {
  visit(View(Out(Field::kDst)), c.dst);
  visit(View(In(Field::kSrc)), c.src);
}

constexpr void DenseFields(auto& c, auto&& visit) {
  visit(Out(Field::kDst), c.dst);
  visit(In(Field::kSrc), c.src);
}

constexpr void WindowFields(auto& w, auto&& visit) {
  visit(Int(Field::kKernelH, 1, kMaxWindow), w.kernel_h);
  visit(Int(Field::kKernelW, 1, kMaxWindow), w.kernel_w);
  visit(Int(Field::kStrideH, 1, kMaxWindow), w.stride_h);
  visit(Int(Field::kStrideW, 1, kMaxWindow), w.stride_w);
  visit(Int(Field::kDilationH, 1, kMaxWindow), w.dilation_h);
  visit(Int(Field::kDilationW, 1, kMaxWindow), w.dilation_w);
  visit(Int(Field::kPadTop, 0, kMaxWindow), w.pad_top);
  visit(Int(Field::kPadLeft, 0, kMaxWindow), w.pad_left);
  visit(Int(Field::kPadBottom, 0, kMaxWindow), w.pad_bottom);
  visit(Int(Field::kPadRight, 0, kMaxWindow), w.pad_right);
}

// Of integers that may have 16 bits.
constexpr void ClampFieldsS16(auto& clamp, auto&& visit) {
  visit(Int(Field::kClampLoQ, -32768, 32767), clamp.lo);
  visit(Int(Field::kClampHiQ, -32768, 32767), clamp.hi);
}

constexpr void ClampFields(auto& clamp, auto&& visit) {
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(clamp)>, ClampQ>) {
    visit(Int(Field::kClampLoQ, -128, 255), clamp.lo);
    visit(Int(Field::kClampHiQ, -128, 255), clamp.hi);
  } else {
    visit(Float(Field::kClampLoF), clamp.lo);
    visit(Float(Field::kClampHiF), clamp.hi);
  }
}

constexpr void RoundingField(auto& rounding, auto&& visit) {
  visit(Choice(Field::kRounding, kRoundingCount), rounding);
}

// A multiplier >= 0 and its shift.
constexpr void WordFields(Field multiplier, Field rshift, auto& words, auto&& visit) {
  visit(Int(multiplier, 0, kInt32Max), words.multiplier);
  visit(Int(rshift, 0, 62), words.rshift);
}

// 1: fused with the command before it; markdown.cc says what it means.
constexpr void FuseWithPreviousField(auto& fuse_with_previous, auto&& visit) {
  visit(Int(Field::kFuseWithPrevious, 0, 1), fuse_with_previous);
}

// --- struct <-> Command ---
struct ReadField {
  const Command& command;

  template <std::same_as<bool>... Bits>
  requires(sizeof...(Bits) > 0) constexpr void operator()(const FieldSpec& spec,
                                                          Bits&... bits) const {
    int64_t rest = command.Get(spec.field);
    ((bits = (rest & 1) != 0, rest >>= 1), ...);
  }
  void operator()(const FieldSpec& spec, float& value) const {
    value = command.GetFloat(spec.field);
  }
  template <typename T>
  requires(std::is_enum_v<T> || (std::is_integral_v<T> && !std::is_same_v<T, bool>)) constexpr void
  operator()(const FieldSpec& spec, T& value) const {
    value = static_cast<T>(command.Get(spec.field));
  }
};

struct WriteField {
  Command& command;

  template <std::same_as<bool>... Bits>
  requires(sizeof...(Bits) > 0) constexpr void operator()(const FieldSpec& spec,
                                                          const Bits&... bits) const {
    int64_t all = 0;
    int place = 0;
    ((all |= int64_t{bits} << place++), ...);
    command.Set(spec.field, all);
  }
  void operator()(const FieldSpec& spec, const float& value) const {
    command.SetFloat(spec.field, value);
  }
  template <typename T>
  requires(std::is_enum_v<T> || (std::is_integral_v<T> && !std::is_same_v<T, bool>)) constexpr void
  operator()(const FieldSpec& spec, const T& value) const {
    command.Set(spec.field, static_cast<int64_t>(value));
  }
};

// The command as its struct; its opcode must be C's.
template <typename C>
C Read(const Command& command) {
  RSHIFT_REQUIRE(command.opcode == C::kOpcode, ErrorCode::kInternal, "read opcode ",
                 static_cast<int>(command.opcode), " as ", C::kName);
  C c;
  C::Fields(c, ReadField{command});
  return c;
}

// The window of any command that has one.
inline Window ReadWindow(const Command& command) {
  Window window;
  WindowFields(window, ReadField{command});
  return window;
}

template <typename C>
Command Write(const C& c) {
  Command command;
  command.opcode = C::kOpcode;
  C::Fields(c, WriteField{command});
  return command;
}

// --- the instruction table's entry ---
template <typename C>
constexpr size_t FieldCountOf() {
  C c{};
  size_t count = 0;
  C::Fields(c, [&](const FieldSpec&, auto&...) { ++count; });
  return count;
}

template <typename C>
constexpr std::array<FieldSpec, FieldCountOf<C>()> FieldsOf() {
  std::array<FieldSpec, FieldCountOf<C>()> specs{};
  C c{};
  size_t next = 0;
  C::Fields(c, [&](const FieldSpec& spec, auto&...) { specs[next++] = spec; });
  return specs;
}

template <typename C>
inline constexpr auto kFieldsOf = FieldsOf<C>();

template <typename C>
constexpr OpSpec SpecOf() {
  return {C::kOpcode, C::kName, C::kClass, kFieldsOf<C>, C::kSummary, C::kTraits};
}

}  // namespace rshift::isa

#endif  // RSHIFT_ISA_OPS_FIELD_LIST_H_
