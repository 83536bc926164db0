// The protobuf classes of ONNX, and nothing else of libonnx: its checker and its shape inference
// refuse files newer than the library.
#ifndef RSHIFT_GRAPH_ONNX_PROTO_H_
#define RSHIFT_GRAPH_ONNX_PROTO_H_

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wshadow"
#include <onnx/onnx_pb.h>
#pragma GCC diagnostic pop

#endif  // RSHIFT_GRAPH_ONNX_PROTO_H_
