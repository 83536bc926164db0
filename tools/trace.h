// The profile of a run as a timeline for chrome://tracing and Perfetto.
#ifndef RSHIFT_TOOLS_TRACE_H_
#define RSHIFT_TOOLS_TRACE_H_

#include <nlohmann/json.hpp>
#include <string>

namespace rshift {

// `commands`: as RunBenchmark lists them. Two tracks of the trace event format, times in
// microseconds: each command's median, and what the cost model predicts, both from the same start,
// and the next command behind the longer of the two.
nlohmann::json TraceEvents(const nlohmann::json& commands, const std::string& program);

}  // namespace rshift

#endif  // RSHIFT_TOOLS_TRACE_H_
