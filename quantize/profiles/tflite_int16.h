// Profiles tflite-ref, tflite-ruy, tflite-xnnpack: LiteRT's 16x8. NUMERICS.md section 30.
#ifndef RSHIFT_QUANTIZE_PROFILES_TFLITE_INT16_H_
#define RSHIFT_QUANTIZE_PROFILES_TFLITE_INT16_H_

#include "quantize/profiles/arithmetic.h"

namespace rshift::tflite {

// `optimised`: of the kernels beside the reference's. Live as long as the program.
const ModelInt16Rules& Int16Rules(bool optimised);

// Of a layer that reads and writes s16.
Rounding Int16RoundingOf(const LinearLayer& layer, bool optimised);
RequantWords Int16WordsOf(const LinearLayer& layer, float scale_w, bool optimised);

// Add, Sub, Mul of s16 tensors.
Op Int16Binary(const BinaryLayer& layer, const ClampQ& clamp);
// From s16 or to it. `lone_clip`: a Relu that nothing took in.
Op Int16Rescale(const ByteLayer& layer, const ClampQ& clamp, bool lone_clip);

}  // namespace rshift::tflite

#endif  // RSHIFT_QUANTIZE_PROFILES_TFLITE_INT16_H_
