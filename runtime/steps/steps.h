// One registration function per family of integer and movement steps; called by FindStep() once.
#ifndef RSHIFT_RUNTIME_STEPS_STEPS_H_
#define RSHIFT_RUNTIME_STEPS_STEPS_H_

namespace rshift {

void RegisterQuantizeSteps();    // quantize, dequantize, requantize
void RegisterConvSteps();        // conv, depthwise, matmul
void RegisterAddSteps();         // add, addfloat
void RegisterPoolSteps();        // averagepool, maxpool
void RegisterActivationSteps();  // leakyrelu, prelu, table
void RegisterMoveSteps();        // copyinto, slice, expand, tile, pad, resize_nearest
void RegisterTransposeSteps();   // transpose
void RegisterGatherSteps();      // gather

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_STEPS_STEPS_H_
