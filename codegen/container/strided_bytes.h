// Which bytes of a region a tensor occupies, or a command writes: evenly spaced runs of bytes.
//
//   offset            offset + pitch
//   |<- run ->|.......|<- run ->|.......|<- run ->|        runs = 3
//
// A part of a Concat is strided bytes of the Concat's bytes.
#ifndef RSHIFT_CODEGEN_CONTAINER_STRIDED_BYTES_H_
#define RSHIFT_CODEGEN_CONTAINER_STRIDED_BYTES_H_

#include <cstdint>
#include <map>
#include <tuple>

#include "codegen/container/image.h"

namespace rshift {

// Dense bytes are one run (pitch 0); no bytes are a run of 0. Otherwise runs > 1, 0 < run < pitch.
// Below 2^41 throughout: offsets and pitches have been checked (container/check.cc).
struct StridedBytes {
  uint64_t offset = 0, runs = 1, run = 0, pitch = 0;

  uint64_t end() const { return offset + (runs - 1) * pitch + run; }
  bool dense() const { return runs == 1; }
  friend bool operator==(const StridedBytes&, const StridedBytes&) = default;
};

// In its simplest form: runs without gaps become one.
StridedBytes MakeStridedBytes(uint64_t offset, uint64_t runs, uint64_t run, uint64_t pitch);
StridedBytes StridedBytesOf(const TensorRecord& tensor);
// What a command writes: its destination, or the part of it that a CopyInto fills. The command has
// a dst; a CopyInto's axis and offset lie within it.
StridedBytes WrittenBytes(const ProgramImage& image, const Command& command);

// Is some byte in both? True, too, when the strided bytes have different pitches and only their
// ends say that they may meet: nothing that shares a buffer does.
bool Overlap(const StridedBytes& a, const StridedBytes& b);
// Of tensors: also false in different regions.
bool Overlap(const TensorRecord& a, const TensorRecord& b);

// A set of bytes. Strips of equal pitch that touch become one; when they fill the pitch, dense.
class ByteSet {
 public:
  void Add(const StridedBytes& strided);
  // Of dense bytes and strided bytes that were added or have grown together: bytes that are covered
  // by an odd mixture of both are not found.
  bool Contains(const StridedBytes& strided) const;

 private:
  using StridedKey = std::tuple<uint64_t, uint64_t, uint64_t>;  // pitch, runs, offset

  void AddDense(uint64_t begin, uint64_t end);
  bool ContainsDense(uint64_t begin, uint64_t end) const;

  std::map<uint64_t, uint64_t> ranges_;     // begin -> end; disjoint, not adjacent
  std::map<StridedKey, uint64_t> strided_;  // -> run
};

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_CONTAINER_STRIDED_BYTES_H_
