// Several inferences in flight: host threads ("streams"), each with a Session of its own over one
// shared Program.
#ifndef RSHIFT_TOOLS_STREAMS_H_
#define RSHIFT_TOOLS_STREAMS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/runtime.h"

namespace rshift {

// `streams` sessions; with options.threads 0 they share the CPUs evenly, at least one thread each.
std::vector<Session> OpenSessions(const Program& program, int streams, SessionOptions options);

// Calls work(0) ... work(streams - 1), each on a host thread of its own (on the caller's when there
// is one), and returns when all have returned. No call starts before every thread exists, so they
// may wait for each other. Throws kUnsupported when the system gives no more threads; rethrows what
// the lowest stream threw.
void OnStreams(int streams, const std::function<void(int stream)>& work);

// Calls work(stream, i) once for every i of [0, count); a stream that is done takes the next i.
// What `work` returns is called in order of i, one at a time. The error of the lowest i ends the
// run and is rethrown: what happens does not depend on the number of streams.
using Commit = std::function<void()>;
void InOrder(int streams, int64_t count,
             const std::function<Commit(int stream, int64_t index)>& work);

}  // namespace rshift

#endif  // RSHIFT_TOOLS_STREAMS_H_
