// Depthwise convolutions of several outputs a channel: x with each channel as many times is read by
// a convolution of one output a channel, which has kernels of its own.
#ifndef RSHIFT_CODEGEN_PASSES_REPEAT_CHANNELS_H_
#define RSHIFT_CODEGEN_PASSES_REPEAT_CHANNELS_H_

#include "graph/graph.h"
#include "target/conv_forms.h"

namespace rshift {

// Every QConv each of whose groups is one channel of x, with up to forms.repeat_channels outputs.
// Of more, a group has channels enough for a register tile.
Graph RepeatChannels(const Graph& graph, const ConvForms& forms);

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_PASSES_REPEAT_CHANNELS_H_
