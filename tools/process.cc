#include "tools/process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "base/error.h"

namespace rshift {
namespace {

void OpenClosedStreams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free number is `fd`: those below it are open by now.
    (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

// Whether this code belongs to GCC's OpenMP library.
bool IsOpenMp(const void* code) {
  Dl_info info;
  return dladdr(code, &info) != 0 && info.dli_fname != nullptr &&
         std::strstr(info.dli_fname, "libgomp") != nullptr;
}

}  // namespace

void SetUpProcess() {
  OpenClosedStreams();
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
}

void FinishStandardOutput() {
  errno = 0;
  const bool arrived =
      std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.flush().good();
  RSHIFT_REQUIRE(arrived, ErrorCode::kIo, "cannot write to the standard output: ",
                 errno != 0 ? std::strerror(errno) : "an earlier write failed");
}

}  // namespace rshift

// Stands before the C library's function of this name for every caller in the process. Callers
// other than libgomp see its result: std::thread throws, libraries do what they do.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*start)(void*), void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  const int code = create(thread, attributes, start, argument);
  if (code != 0 && rshift::IsOpenMp(__builtin_return_address(0))) {
    std::fprintf(stderr,
                 "error: cannot start another thread (%s): allow the process more memory or "
                 "threads, or give --threads 1\n",
                 std::strerror(code));
    std::_Exit(1);
  }
  return code;
}
