#include "tools/benchmark.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "runtime/cost.h"

namespace rshift {
namespace {

double Percentile(std::vector<double> values, double fraction) {
  std::sort(values.begin(), values.end());
  const auto index = static_cast<size_t>(fraction * static_cast<double>(values.size() - 1) + 0.5);
  return values[index];
}

struct CommandRow {
  std::string name, node;
  double median_ms = 0, gops = 0;
  uint64_t bytes = 0;
};

std::vector<CommandRow> TimeCommands(const Program& program, Session& session, int iterations) {
  const ProgramImage& image = program.image();
  std::vector<std::vector<double>> times(image.commands.size());
  for (int i = 0; i < iterations; ++i) {
    const std::vector<double> once = session.RunTimed();
    for (size_t c = 0; c < once.size(); ++c) times[c].push_back(once[c]);
  }
  std::vector<CommandRow> rows;
  for (size_t c = 0; c < times.size(); ++c) {
    CommandRow row;
    row.name = FindOp(image.commands[c].opcode)->name;
    row.node = image.command_names.empty() ? "" : image.command_names[c];
    row.median_ms = Percentile(times[c], 0.5);
    row.gops = row.median_ms == 0
                   ? 0
                   : 2e-6 * static_cast<double>(MacCount(image, image.commands[c])) / row.median_ms;
    row.bytes = BytesMoved(image, image.commands[c]);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

nlohmann::json RunBenchmark(const Program& program, Session& session,
                            const BenchmarkOptions& options) {
  for (int i = 0; i < options.warmup; ++i) session.Run();
  std::vector<double> times;
  for (int i = 0; i < options.iterations; ++i) {
    const auto start = std::chrono::steady_clock::now();
    session.Run();
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
            .count());
  }
  int64_t macs = 0;
  for (const Command& command : program.image().commands)
    macs += MacCount(program.image(), command);
  const double median = Percentile(times, 0.5);
  const double gops = median == 0 ? 0 : 2e-6 * static_cast<double>(macs) / median;
  std::vector<CommandRow> rows;
  if (options.per_command) rows = TimeCommands(program, session, options.iterations);
  nlohmann::json json = {{"iterations", options.iterations},
                         {"threads", session.threads()},
                         {"min_ms", Percentile(times, 0)},
                         {"median_ms", median},
                         {"p99_ms", Percentile(times, 0.99)},
                         {"gops", gops},
                         {"macs", macs}};
  for (const CommandRow& r : rows) {
    json["commands"].push_back({{"command", r.name},
                                {"node", r.node},
                                {"median_ms", r.median_ms},
                                {"gops", r.gops},
                                {"bytes", r.bytes}});
  }
  if (options.json) return json;
  std::printf("%d runs, %d threads: min %.4f ms, median %.4f ms, p99 %.4f ms, %.1f GOPS\n",
              options.iterations, session.threads(), Percentile(times, 0), median,
              Percentile(times, 0.99), gops);
  for (const CommandRow& r : rows) {
    std::printf("  %9.4f ms %8.1f GOPS %10llu bytes  %-18s %s\n", r.median_ms, r.gops,
                static_cast<unsigned long long>(r.bytes), r.name.c_str(), r.node.c_str());
  }
  return json;
}

}  // namespace rshift
