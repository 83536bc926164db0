// Lists of sizes and places that a .tflite file computes from the sizes of tensors, as converters
// write them where a dimension is open: what they are is known before the network runs.
#ifndef RSHIFT_GRAPH_TFLITE_KNOWN_VALUES_H_
#define RSHIFT_GRAPH_TFLITE_KNOWN_VALUES_H_

#include "graph/tflite/op.h"

namespace rshift::tflite {

// Elements of a constant list of integers; none: it is neither.
std::optional<KnownInts> StoredInts(const File& file, const Tensor& tensor);

// Of two numbers; none where one is too large for a size, or for another operator than these.
std::optional<int64_t> CombinedInts(BuiltinOperator code, std::optional<int64_t> a,
                                    std::optional<int64_t> b);

// Elements of a constant tensor of integers, or of one that NoteKnownValues found; none: neither.
std::optional<KnownInts> KnownValues(const Translation& state, int tensor);

// After a call has been translated: what its results hold, if they are short lists of integers that
// follow from constants and from sizes that are fixed.
void NoteKnownValues(const Call& call, Translation& state);

}  // namespace rshift::tflite

#endif  // RSHIFT_GRAPH_TFLITE_KNOWN_VALUES_H_
