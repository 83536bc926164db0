// Variables of a .tflite file, which keep their contents between runs. A program has none: what a
// variable holds before a run is an input, what it holds afterwards an output, and whoever runs the
// program feeds it back. All begin with zeros.
#ifndef RSHIFT_GRAPH_TFLITE_VARIABLES_H_
#define RSHIFT_GRAPH_TFLITE_VARIABLES_H_

#include <string>

#include "graph/tflite/op.h"

namespace rshift::tflite {

// CALL_ONCE, VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE. Throws kUnsupported for a variable that
// begins with other values.
void TranslateVariable(const Operator& op, Translation& t);

// Of a variable tensor, the state of an operator: its value is an input from here on; `value` is
// what it holds after the run.
void ReadState(int tensor, Translation& t);
void AssignState(int tensor, const std::string& value, Translation& t);

// Names the outputs of all variables, once every operator is translated. Throws kUnsupported for a
// variable that is read but never assigned.
void FinishVariables(Translation& t);

// For people; "" without variables.
std::string DescribeVariables(const Translation& t);

}  // namespace rshift::tflite

#endif  // RSHIFT_GRAPH_TFLITE_VARIABLES_H_
