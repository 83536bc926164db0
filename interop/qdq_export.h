// A quantized model as an ONNX model with QuantizeLinear and DequantizeLinear, or FakeQuantize.
#ifndef RSHIFT_INTEROP_QDQ_EXPORT_H_
#define RSHIFT_INTEROP_QDQ_EXPORT_H_

#include <string>

#include "graph/graph.h"
#include "quantize/set_biases.h"

namespace rshift {

// Bytes of an ONNX file (opset 20). `imported`: the float graph as imported; `quantized`: what
// QuantizeGraph made of it after RunPasses, with `biases` in place of its own. Folded and fused as
// there; every tensor that is integer there has QuantizeLinear and DequantizeLinear with its scale
// and zero point; weights of convolutions and matrix products are s8 initializers with a scale for
// each output channel, biases s32 with scale S_x S_w; constant operands as the program has them;
// nodes that run in F32 have none. Throws kUnsupported naming the node for operators that cannot be
// written, and for models that hold QuantizeLinear already.
std::string ExportQdq(const Graph& imported, const Graph& quantized, const NodeBiases& biases = {});
// Throws what ExportQdq and ExportFakeQuantize would throw whatever the integers are, before those
// are looked for.
void CheckQdqExport(const Graph& imported);
// The same with OpenVINO's FakeQuantize (domain org.openvinotoolkit, 256 levels) in place of
// QuantizeLinear and DequantizeLinear: the range of a tensor's integers is input and output range;
// weights are f32 multiples of their scale behind a FakeQuantize by channel; biases are f32.
std::string ExportFakeQuantize(const Graph& imported, const Graph& quantized,
                               const NodeBiases& biases = {});

}  // namespace rshift

#endif  // RSHIFT_INTEROP_QDQ_EXPORT_H_
