// What the pointers of the C interface point to.
#ifndef RSHIFT_RSHIFT_HANDLES_H_
#define RSHIFT_RSHIFT_HANDLES_H_

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "rshift/rshift.h"
#include "runtime/runtime.h"

namespace rshift {

// What an input or output is, with the memory that a rshift_tensor points to.
struct TensorInfo {
  std::string name;
  const TensorRecord* record = nullptr;
  Shape shape;  // in ONNX order

  rshift_tensor Public() const {
    const auto elements = static_cast<size_t>(NumElements(shape));
    return {.name = name.c_str(),
            .type = static_cast<rshift_type>(record->dtype),
            .rank = shape.size(),
            .shape = shape.data(),
            .elements = elements,
            .bytes = elements * SizeOf(record->dtype),
            .quantized = record->quantized ? 1 : 0,
            .scale = record->scale,
            .zero_point = record->zero_point};
  }
};

struct SharedProgram {
  Program program;
  std::vector<TensorInfo> inputs = {}, outputs = {};
};

inline const TensorInfo& At(const std::vector<TensorInfo>& tensors, size_t index,
                            const char* kind) {
  RSHIFT_REQUIRE(index < tensors.size(), ErrorCode::kInvalidInput, kind, " ", index,
                 ": the program has ", tensors.size(), ", counted from 0");
  return tensors[index];
}

}  // namespace rshift

struct rshift_program {
  std::shared_ptr<const rshift::SharedProgram> shared;
};

struct rshift_session {
  std::shared_ptr<const rshift::SharedProgram> shared;
  rshift::Session session;
  rshift::Shape output_shape = {};  // of the last rshift_session_output
  bool has_run = false;
};

#endif  // RSHIFT_RSHIFT_HANDLES_H_
