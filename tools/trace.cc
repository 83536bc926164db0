#include "tools/trace.h"

#include <algorithm>

namespace rshift {
namespace {

constexpr int kProcess = 1, kMeasured = 1, kPredicted = 2;  // the tracks

nlohmann::json TrackName(int track, const char* name) {
  return {{"ph", "M"},
          {"pid", kProcess},
          {"tid", track},
          {"name", "thread_name"},
          {"args", {{"name", name}}}};
}

nlohmann::json Event(int track, const nlohmann::json& command, double start, double milliseconds) {
  return {{"ph", "X"},
          {"pid", kProcess},
          {"tid", track},
          {"name", command["command"]},
          {"ts", 1000 * start},
          {"dur", 1000 * milliseconds},
          {"args",
           {{"node", command["node"]},
            {"GOPS", command["gops"]},
            {"of peak", command["peak_share"]},
            {"bytes", command["bytes"]},
            {"GB/s", command["gb_per_s"]}}}};
}

}  // namespace

nlohmann::json TraceEvents(const nlohmann::json& commands, const std::string& program) {
  nlohmann::json events = {
      {{"ph", "M"}, {"pid", kProcess}, {"name", "process_name"}, {"args", {{"name", program}}}},
      TrackName(kMeasured, "measured, median"),
      TrackName(kPredicted, "predicted")};
  double start = 0;
  for (const nlohmann::json& command : commands) {
    const double measured = command["median_ms"], predicted = command["predicted_ms"];
    events.push_back(Event(kMeasured, command, start, measured));
    events.push_back(Event(kPredicted, command, start, predicted));
    start += std::max(measured, predicted);
  }
  return {{"traceEvents", events}, {"displayTimeUnit", "ms"}};
}

}  // namespace rshift
