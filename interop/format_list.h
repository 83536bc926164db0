// What interop/formats.cc lists; each is defined in the file of its name.
#ifndef RSHIFT_INTEROP_FORMAT_LIST_H_
#define RSHIFT_INTEROP_FORMAT_LIST_H_

#include "interop/format.h"

namespace rshift {

extern const ScaleFormat kRshiftScales;   // rshift_scales.cc
extern const ScaleFormat kRshiftTable;    // rshift_table.cc
extern const ScaleFormat kTpuMlir;        // tpu_mlir.cc
extern const ScaleFormat kTpuMlirQtable;  // tpu_mlir_qtable.cc
extern const ScaleFormat kTensorRt;       // tensorrt.cc
extern const ScaleFormat kNcnn;           // ncnn.cc
extern const ScaleFormat kAimet06;        // aimet_0.cc
extern const ScaleFormat kAimet10;        // aimet_1.cc
extern const ScaleFormat kOnnxRuntime;    // onnxruntime.cc
extern const ScaleFormat kOpenVinoIr;     // openvino.cc
extern const ScaleFormat kOnnxModel;      // onnx_model.cc

}  // namespace rshift

#endif  // RSHIFT_INTEROP_FORMAT_LIST_H_
