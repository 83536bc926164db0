// Which bytes of the arena hold something: the inputs at first, then what each command writes.
#ifndef RSHIFT_RUNTIME_VERIFY_DATA_FLOW_H_
#define RSHIFT_RUNTIME_VERIFY_DATA_FLOW_H_

#include "codegen/container/strided_bytes.h"

namespace rshift::verify {

class DataFlow {
 public:
  explicit DataFlow(const ProgramImage& image);
  // Was every byte written? Constants always are. Parts of a Concat are strided bytes of it, which
  // add up to the whole.
  bool IsWritten(const TensorRecord& tensor) const;
  // After a command: what it has written (WrittenBytes).
  void Write(const StridedBytes& written) { written_.Add(written); }

 private:
  ByteSet written_;
};

}  // namespace rshift::verify

#endif  // RSHIFT_RUNTIME_VERIFY_DATA_FLOW_H_
