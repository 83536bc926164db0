#include "calibrate/observed_program.h"

#include <omp.h>

#include <algorithm>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/error.h"
#include "codegen/compile.h"
#include "codegen/container/container.h"

namespace rshift {

Program CompileForObservation(const Graph& graph) {
  CompileOptions options;
  options.observable = true;
  options.reuse_observed = true;  // what runs stays in the caches
  return Program::FromBytes(WriteContainer(Compile(graph, options)),
                            "float program of " + graph.name, Limits::None());
}

size_t ThreadCount(int asked, size_t samples) {
  const size_t threads =
      asked > 0 ? static_cast<size_t>(asked) : std::max(1u, std::thread::hardware_concurrency());
  return std::clamp<size_t>(threads, 1, std::max<size_t>(samples, 1));
}

void RunThreads(size_t threads, const std::function<void(size_t)>& work) {
  std::vector<std::thread> running;
  std::string reason;
  try {
    for (size_t i = 0; i < threads; ++i) {
      running.emplace_back([&work, i] {
        omp_set_num_threads(1);  // a sample is one thread's work
        work(i);
      });
    }
  } catch (const std::system_error& error) {
    reason = error.code().message();  // fewer threads do the same work
  }
  for (std::thread& thread : running) thread.join();
  RSHIFT_REQUIRE(!running.empty(), ErrorCode::kIo, "cannot start a thread: ", reason);
}

}  // namespace rshift
