// Which bytes of the arena hold something: the inputs at first, then what each command writes.
#ifndef RSHIFT_RUNTIME_VERIFY_DATA_FLOW_H_
#define RSHIFT_RUNTIME_VERIFY_DATA_FLOW_H_

#include <cstdint>
#include <map>
#include <vector>

#include "runtime/verify/command_check.h"

namespace rshift::verify {

// A set of bytes as disjoint, non-adjacent half-open ranges.
class ByteSet {
 public:
  void Add(uint64_t begin, uint64_t end);
  bool Contains(uint64_t begin, uint64_t end) const;

 private:
  std::map<uint64_t, uint64_t> ranges_;  // begin -> end
};

class DataFlow {
 public:
  explicit DataFlow(const ProgramImage& image);
  bool IsWritten(const TensorRecord& tensor) const;
  // After the command: its destination, or the part a CopyInto fills.
  void Write(const CommandCheck& check);

 private:
  // Parts of a Concat on an inner axis are strided: their tensor counts as written once they cover
  // the axis.
  struct Partial {
    uint64_t offset = 0, bytes = 0;
    Shape shape;
    int64_t axis = 0;
    ByteSet covered;  // of the axis, in indices
  };

  void WriteRange(uint64_t offset, uint64_t bytes);
  void WritePart(const CommandCheck& check);

  ByteSet written_;
  std::vector<Partial> partials_;
};

}  // namespace rshift::verify

#endif  // RSHIFT_RUNTIME_VERIFY_DATA_FLOW_H_
