// One registration function per family of integer and movement steps; called by FindStep() once.
#ifndef RSHIFT_RUNTIME_STEPS_STEPS_H_
#define RSHIFT_RUNTIME_STEPS_STEPS_H_

namespace rshift {

void RegisterQuantizeSteps();     // quantize, dequantize, requantize
void RegisterConvSteps();         // conv, depthwise, matmul
void RegisterAddSteps();          // add, add_float, add_fma
void RegisterAddShiftedSteps();   // add_shifted
void RegisterMulSteps();          // mul
void RegisterMaxPoolSteps();      // max_pool
void RegisterAveragePoolSteps();  // average_pool
void RegisterSoftmaxSteps();      // softmax
void RegisterActivationSteps();   // leaky_relu, prelu, table
void RegisterMoveSteps();         // copy_into, slice, expand, tile, pad, resize_nearest
void RegisterTransposeSteps();    // transpose
void RegisterGatherSteps();       // gather

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_STEPS_STEPS_H_
