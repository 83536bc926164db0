#include "calibrate/observed_program.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/error.h"
#include "codegen/compile.h"
#include "codegen/container/container.h"
#include "runtime/threads.h"

namespace rshift {

Program CompileForObservation(const Graph& graph) {
  CompileOptions options;
  options.observable = true;
  options.reuse_observed = true;  // what runs stays in the caches
  return Program::FromBytes(WriteContainer(Compile(graph, options)),
                            "float program of " + graph.name, Limits::None());
}

ObservedProgram::ObservedProgram(const Graph& graph, bool portable)
    : program_(CompileForObservation(graph)), portable_(portable) {}

ObservedProgram::SessionOwner ObservedProgram::TakeSession() {
  std::unique_ptr<Session> session;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      session = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (session == nullptr)
    session =
        std::make_unique<Session>(program_, SessionOptions{.threads = 1, .portable = portable_});
  return {session.release(), [this](Session* returned) {
            std::unique_ptr<Session> owned(returned);
            const std::lock_guard lock(mutex_);
            idle_.push_back(std::move(owned));
          }};
}

size_t ThreadCount(int asked, size_t samples) {
  const size_t threads = static_cast<size_t>(asked > 0 ? asked : DefaultThreads());
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

void ForEachIndex(int asked, size_t count, const std::function<IndexWork()>& make_work) {
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::exception_ptr error;
  RunThreads(ThreadCount(asked, count), [&](size_t) {
    try {
      const IndexWork work = make_work();
      for (size_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
    }
  });
  if (error) std::rethrow_exception(error);
}

}  // namespace rshift
