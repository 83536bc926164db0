#include "tools/benchmark.h"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cost.h"
#include "tools/peak.h"
#include "tools/runner_data.h"
#include "tools/streams.h"

namespace rshift {
namespace {

using Clock = std::chrono::steady_clock;

double Percentile(std::vector<double> values, double fraction) {
  std::sort(values.begin(), values.end());
  const auto index = static_cast<size_t>(fraction * static_cast<double>(values.size() - 1) + 0.5);
  return values[index];
}

double Gops(int64_t macs, double ms) { return ms == 0 ? 0 : 2e-6 * static_cast<double>(macs) / ms; }

// Of the whole process so far.
uint64_t PeakMemoryBytes() {
  rusage usage = {};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<uint64_t>(usage.ru_maxrss) * 1024 : 0;
}

// What the inputs hold when it is made, brought back before each run, which may overwrite them:
// other bytes may take another time (F32 denormals). Not timed: filling is the caller's.
class KeptInputs {
 public:
  KeptInputs(Session& session, size_t inputs) {
    for (size_t i = 0; i < inputs; ++i) {
      const std::span<const std::byte> input = session.Input(static_cast<int>(i));
      kept_.emplace_back(input.begin(), input.end());
    }
  }
  void Fill(Session& session) const {
    for (size_t i = 0; i < kept_.size(); ++i)
      std::copy(kept_[i].begin(), kept_[i].end(), session.Input(static_cast<int>(i)).begin());
  }

 private:
  std::vector<std::vector<std::byte>> kept_;
};

struct Inferences {
  std::vector<double> milliseconds;
  double seconds = 0;  // from the first start to the last end
};

// All streams warm up, wait for each other, then take inferences from one count until none is
// left: they end within one inference of each other.
Inferences TimeInferences(std::span<Session> sessions, size_t inputs,
                          const BenchmarkOptions& options) {
  const auto streams = static_cast<int64_t>(sessions.size());
  const int64_t count = streams * options.iterations;
  std::vector<double> times(static_cast<size_t>(count));
  std::vector<Clock::time_point> starts(sessions.size()), ends(sessions.size());
  std::atomic<int64_t> next{0};
  std::barrier warm(streams);
  OnStreams(static_cast<int>(streams), [&](int stream) {
    const auto s = static_cast<size_t>(stream);
    const KeptInputs kept(sessions[s], inputs);
    for (int i = 0; i < options.warmup; ++i) {
      kept.Fill(sessions[s]);
      sessions[s].Run();
    }
    warm.arrive_and_wait();
    starts[s] = ends[s] = Clock::now();
    for (int64_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
      kept.Fill(sessions[s]);
      const Clock::time_point start = Clock::now();
      sessions[s].Run();
      ends[s] = Clock::now();
      times[static_cast<size_t>(i)] =
          std::chrono::duration<double, std::milli>(ends[s] - start).count();
    }
    kept.Fill(sessions[s]);  // as it was
  });
  const auto begin = *std::min_element(starts.begin(), starts.end());
  const auto end = *std::max_element(ends.begin(), ends.end());
  return {std::move(times), std::chrono::duration<double>(end - begin).count()};
}

struct CommandRow {
  std::string name, node;
  double median_ms = 0, share = 0, gops = 0, peak_share = 0, gb_per_s = 0, predicted_ms = 0;
  uint64_t bytes = 0;
  std::vector<std::pair<std::string, Work>> work = {};  // by command: the first, fused ones
  bool integer = true;
};

std::vector<CommandRow> TimeCommands(const Program& program, Session& session, int iterations) {
  const ProgramImage& image = program.image();
  std::vector<std::vector<double>> times(image.commands.size());
  const KeptInputs kept(session, image.inputs.size());
  for (int i = 0; i < iterations; ++i) {
    kept.Fill(session);
    const std::vector<double> once = session.RunTimed();
    for (size_t c = 0; c < once.size(); ++c) times[c].push_back(once[c]);
  }
  const std::vector<double> predicted = session.PredictedMilliseconds();
  std::vector<CommandRow> rows;
  for (size_t c = 0; c < times.size(); ++c) {
    const Command& command = image.commands[c];
    const std::string name = FindOp(command.opcode)->name;
    const std::string node = image.command_names.empty() ? "" : image.command_names[c];
    if (command.Get(Field::kFuseWithPrevious) != 0) {  // one row with the command it runs in
      rows.back().name += "+" + name;
      rows.back().node += "+" + node;
    } else {
      rows.push_back({.name = name,
                      .node = node,
                      .median_ms = Percentile(times[c], 0.5),
                      .integer = !IsFloatCompute(command.opcode)});
    }
    CommandRow& row = rows.back();
    const Work work = WorkOf(image, command);
    row.work.emplace_back(name, work);
    row.gops += Gops(work.macs, row.median_ms);
    row.bytes += work.moved();
    row.gb_per_s = row.median_ms == 0 ? 0 : 1e-6 * static_cast<double>(row.bytes) / row.median_ms;
    row.predicted_ms += predicted[c];
  }
  return rows;
}

// Of the time of all commands, and of the integer peak.
void AddShares(double peak_gops, std::vector<CommandRow>* rows) {
  double total = 0;
  for (const CommandRow& row : *rows) total += row.median_ms;
  for (CommandRow& row : *rows) {
    row.share = total == 0 ? 0 : row.median_ms / total;
    row.peak_share = row.integer && peak_gops > 0 ? row.gops / peak_gops : 0;
  }
}

nlohmann::json ToJson(const CommandRow& r) {
  nlohmann::json parts = nlohmann::json::array();
  for (const auto& [command, work] : r.work) {
    parts.push_back({{"command", command},
                     {"macs", work.macs},
                     {"constants", work.constants},
                     {"bytes", work.bytes},
                     {"requants", work.requants},
                     {"f32_elements", work.f32_elements}});
  }
  return {{"command", r.name},       {"node", r.node},         {"median_ms", r.median_ms},
          {"share", r.share},        {"gops", r.gops},         {"peak_share", r.peak_share},
          {"bytes", r.bytes},        {"gb_per_s", r.gb_per_s}, {"predicted_ms", r.predicted_ms},
          {"work", std::move(parts)}};
}

// Pearson's, of measured and predicted times; 0 when either does not vary.
double Correlation(const std::vector<CommandRow>& rows) {
  double x = 0, y = 0;
  for (const CommandRow& r : rows) x += r.median_ms, y += r.predicted_ms;
  x /= static_cast<double>(rows.size()), y /= static_cast<double>(rows.size());
  double xx = 0, yy = 0, xy = 0;
  for (const CommandRow& r : rows) {
    xx += (r.median_ms - x) * (r.median_ms - x);
    yy += (r.predicted_ms - y) * (r.predicted_ms - y);
    xy += (r.median_ms - x) * (r.predicted_ms - y);
  }
  return xx == 0 || yy == 0 ? 0 : xy / std::sqrt(xx * yy);
}

// A count that is 0 for most commands is left blank, so that the others stand out.
std::string OrBlank(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return value == 0 ? std::string(std::string(text).size(), ' ') : text;
}

void PrintRows(const std::vector<CommandRow>& rows, double peak_gops, int threads, Isa isa) {
  if (peak_gops > 0) {
    std::printf("peak of %s on %d thread%s: %.1f GOPS\n", Name(isa), threads,
                threads == 1 ? "" : "s", peak_gops);
  }
  std::printf("%10s %7s %8s %7s %11s %7s %12s\n", "ms", "share", "GOPS", "of peak", "bytes", "GB/s",
              "predicted ms");
  double total = 0, predicted = 0;
  for (const CommandRow& r : rows) {
    std::printf("%10.4f %5.1f %% %s %s %11llu %7.1f %12.4f  %-18s %s\n", r.median_ms, 100 * r.share,
                OrBlank("%8.1f", r.gops).c_str(), OrBlank("%5.1f %%", 100 * r.peak_share).c_str(),
                static_cast<unsigned long long>(r.bytes), r.gb_per_s, r.predicted_ms,
                r.name.c_str(), r.node.c_str());
    total += r.median_ms;
    predicted += r.predicted_ms;
  }
  std::printf("%10.4f %54s %.4f  all commands; correlation with the prediction %.3f\n", total, "",
              predicted, Correlation(rows));
}

void PrintSummary(const nlohmann::json& j) {
  const size_t streams = j["streams"];
  std::string images;  // where an inference takes several
  if (j["batch"] != 1) {
    char text[80];
    std::snprintf(text, sizeof text, " of %lld images: %.1f images/s",
                  static_cast<long long>(j["batch"].get<int64_t>()),
                  j["images_per_s"].get<double>());
    images = text;
  }
  std::printf(
      "%d runs, %d threads%s: min %.4f ms, median %.4f ms, p99 %.4f ms, %.1f inferences/s%s, "
      "%.1f GOPS\n",
      j["iterations"].get<int>(), j["threads"].get<int>(),
      streams == 1 ? "" : (" in each of " + std::to_string(streams) + " streams").c_str(),
      j["min_ms"].get<double>(), j["median_ms"].get<double>(), j["p99_ms"].get<double>(),
      j["inferences_per_s"].get<double>(), images.c_str(), j["gops"].get<double>());
  const auto megabytes = [&](const char* key) { return 1e-6 * j[key].get<double>(); };
  std::printf(
      "load and verify %.2f ms, session%s %.2f ms, peak memory %.1f MB: program %.1f, "
      "arena %.1f, buffers of commands %.1f, the rest code and libraries\n",
      j["load_ms"].get<double>(), streams == 1 ? "" : "s", j["session_ms"].get<double>(),
      megabytes("peak_memory_bytes"), megabytes("program_bytes"), megabytes("arena_bytes"),
      megabytes("steps_bytes"));
}

void AddCommands(const Program& program, Session& session, const BenchmarkOptions& options,
                 nlohmann::json* json) {
  double peak = PeakGops(options.isa, session.threads());
  std::vector<CommandRow> rows = TimeCommands(program, session, options.iterations);
  peak = std::max(peak, PeakGops(options.isa, session.threads()));
  AddShares(peak, &rows);
  (*json)["peak_gops"] = peak;
  (*json)["constant_bytes"] = ConstantBytes(program.image());
  (*json)["cost"] = ToText(CostModelOf(program.image(), program.where()));
  (*json)["predicted_correlation"] = Correlation(rows);
  (*json)["commands"] = nlohmann::json::array();
  for (const CommandRow& row : rows) (*json)["commands"].push_back(ToJson(row));
  if (!options.json) PrintRows(rows, peak, session.threads(), options.isa);
}

}  // namespace

nlohmann::json RunBenchmark(const Program& program, std::span<Session> sessions,
                            const BenchmarkOptions& options) {
  const Inferences inferences = TimeInferences(sessions, program.image().inputs.size(), options);
  const std::vector<double>& times = inferences.milliseconds;
  Session& session = sessions[0];
  int64_t macs = 0;
  for (const Command& command : program.image().commands)
    macs += MacCount(program.image(), command);
  const double least = Percentile(times, 0), median = Percentile(times, 0.5),
               p99 = Percentile(times, 0.99),
               per_second = static_cast<double>(times.size()) / inferences.seconds;
  const int64_t batch = BatchOf(program.image());
  const double gops = 2e-9 * static_cast<double>(macs) * per_second;
  const uint64_t memory = PeakMemoryBytes();
  SessionMemory own;
  for (const Session& one : sessions) {
    own.arena += one.memory().arena;
    own.steps += one.memory().steps;
  }
  nlohmann::json json = {{"iterations", options.iterations},
                         {"streams", sessions.size()},
                         {"threads", session.threads()},
                         {"isa", Name(options.isa)},
                         {"min_ms", least},
                         {"median_ms", median},
                         {"p99_ms", p99},
                         {"inferences_per_s", per_second},
                         {"batch", batch},
                         {"images_per_s", per_second * static_cast<double>(batch)},
                         {"gops", gops},
                         {"macs", macs},
                         {"load_ms", options.load_ms},
                         {"session_ms", options.session_ms},
                         {"peak_memory_bytes", memory},
                         {"program_bytes", program.file_bytes()},
                         {"arena_bytes", own.arena},
                         {"steps_bytes", own.steps}};
  if (!options.json) PrintSummary(json);
  if (options.per_command) AddCommands(program, session, options, &json);
  return json;
}

}  // namespace rshift
