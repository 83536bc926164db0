// UNIDIRECTIONAL_SEQUENCE_LSTM on integers throughout, as the converter writes it under full
// integer quantization: TensorFlow Lite has a kernel of its own for it, "8x8_16".
#ifndef RSHIFT_GRAPH_TFLITE_INTEGER_LSTM_H_
#define RSHIFT_GRAPH_TFLITE_INTEGER_LSTM_H_

#include "graph/tflite/op.h"

namespace rshift::tflite {

// Gives the operator's result where it is one that our integer cells compute (graph/onnx/
// fixed_lstm.cc); else false, and nothing is written.
bool GiveIntegerLstm(OpWriter& op, float cell_clip, bool time_major);

}  // namespace rshift::tflite

#endif  // RSHIFT_GRAPH_TFLITE_INTEGER_LSTM_H_
