#include "runtime/float/float_library.h"

#include "runtime/float/makers.h"

namespace rshift {

void RegisterFloatLibrary() {
  RegisterStep(Opcode::kConvF32, f32::MakeConv);
  RegisterStep(Opcode::kConvTransposeF32, f32::MakeConvTranspose);
  RegisterStep(Opcode::kMatMulF32, f32::MakeMatMul);
  RegisterStep(Opcode::kAveragePoolF32, f32::MakeAveragePool);
}

}  // namespace rshift
