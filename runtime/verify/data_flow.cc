#include "runtime/verify/data_flow.h"

namespace rshift::verify {

DataFlow::DataFlow(const ProgramImage& image) {
  for (const Binding& input : image.inputs) {
    written_.Add(StridedBytesOf(image.tensors[static_cast<size_t>(input.tensor)]));
  }
}

bool DataFlow::IsWritten(const TensorRecord& tensor) const {
  return tensor.region == Region::kConst || written_.Contains(StridedBytesOf(tensor));
}

}  // namespace rshift::verify
