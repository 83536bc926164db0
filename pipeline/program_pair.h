// The float and the integer program of one model, compiled so that every tensor can be seen and
// set: what layer_compare and sensitivity stand on.
#ifndef RSHIFT_PIPELINE_PROGRAM_PAIR_H_
#define RSHIFT_PIPELINE_PROGRAM_PAIR_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "runtime/runtime.h"

namespace rshift {

// Every value of the graph has memory of its own (CompileOptions::observable).
Program CompileObservable(const Graph& graph, const std::string& where);

// A tensor that a command of the integer program writes and that the float program also has.
struct TensorPair {
  int32_t integer = 0, floating = 0;  // indices of the tensors in their programs
  std::string command;                // what writes it, as the disassembler names it
  bool moves = false;                 // that command only moves elements
  bool same_order = false;            // layout and shape are equal: elements correspond in memory
};
std::vector<TensorPair> PairTensors(const ProgramImage& integer, const ProgramImage& floating);

// Real values of both tensors in one order, dequantized: memory order where that is the same,
// ONNX order otherwise.
struct PairValues {
  std::vector<float> integer, floating;
};
void ReadPair(const TensorPair& pair, const Program& integer, const Session& integer_session,
              const Program& floating, const Session& float_session, PairValues* values);

// Memory of an arena tensor to write to, between commands (Session::RunObserved).
std::span<std::byte> WritableTensor(const Session& session, int32_t tensor);
// Stores real values in memory order as the tensor's own type: quantized to the nearest integer,
// half to even, saturated. False, and nothing stored, for a type that is neither F32 nor quantized
// to 8 bits.
bool StoreValues(const TensorRecord& record, std::span<const float> values,
                 std::span<std::byte> memory);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_PROGRAM_PAIR_H_
