// F32 steps that need no third-party library: element-wise, normalization, reduction, resize
// (opcodes 40-53). Every step is parallel and gives the same bytes for any number of threads.
#ifndef RSHIFT_RUNTIME_F32_F32_STEPS_H_
#define RSHIFT_RUNTIME_F32_F32_STEPS_H_

namespace rshift {

// Calls RegisterStep() for each of them; part of the runtime's built-in registration. The makers
// throw kUnsupported for element types an operator does not take and kCorrupt for shapes that do
// not fit together.
void RegisterF32Steps();

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_F32_F32_STEPS_H_
