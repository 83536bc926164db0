// Any stage of a graph as text, one line per value and node (--dump-graph).
#ifndef RSHIFT_GRAPH_DUMP_H_
#define RSHIFT_GRAPH_DUMP_H_

#include <string>

#include "graph/graph.h"

namespace rshift {

std::string DumpGraph(const Graph& graph);

}  // namespace rshift

#endif  // RSHIFT_GRAPH_DUMP_H_
