#include "runtime/onednn/float_library.h"

#include <oneapi/dnnl/dnnl.hpp>

#include "base/error.h"
#include "runtime/onednn/makers.h"

namespace rshift {

void RegisterFloatLibrary() {
  RegisterStep(Opcode::kConvF32, f32::MakeConv);
  RegisterStep(Opcode::kConvTransposeF32, f32::MakeConvTranspose);
  RegisterStep(Opcode::kMatMulF32, f32::MakeMatMul);
  RegisterStep(Opcode::kAveragePoolF32, f32::MakeAveragePool);
}

std::string OneDnnVersion() {
  const dnnl_version_t* version = dnnl_version();
  return Cat(version->major, ".", version->minor, ".", version->patch);
}

}  // namespace rshift
