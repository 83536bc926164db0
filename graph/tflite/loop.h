// Loops that run as often whatever the network reads: what converters make of recurrent layers that
// have no operator of their own (Keras' GRU, SimpleRNN, masked LSTM).
#ifndef RSHIFT_GRAPH_TFLITE_LOOP_H_
#define RSHIFT_GRAPH_TFLITE_LOOP_H_

#include <optional>

#include "graph/tflite/file.h"

namespace rshift::tflite {

// How often the body of a WHILE runs, by numbers that it counts from constants on; none where these
// do not tell, or after many runs.
std::optional<int> CountRuns(const File& file, const SubGraph& condition, const SubGraph& body,
                             const std::vector<int>& inputs);

// Whether one holds what the other does, bit for bit.
bool HoldAlike(const Tensor& a, const Tensor& b);

}  // namespace rshift::tflite

#endif  // RSHIFT_GRAPH_TFLITE_LOOP_H_
