#include "tools/process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>

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

// Says why and ends the process at once; only the first of several threads does.
[[noreturn]] void EndWith(const char* what, const char* reason, const char* advice) {
  static std::atomic_flag taken;
  while (taken.test_and_set()) pause();
  std::fprintf(stderr, "error: %s%s%s\n", what, reason, advice);
  std::_Exit(1);
}

// An exception that nobody can catch: a library runs out of memory inside a step of a program,
// which must not throw, or in a thread of its own. Without an exception it is a bug, and aborts.
[[noreturn]] void EndOnException() {
  if (const std::exception_ptr escaped = std::current_exception()) {
    try {
      std::rethrow_exception(escaped);
    } catch (const std::bad_alloc&) {
      EndWith("out of memory", "", "");
    } catch (const std::exception& error) {
      EndWith(error.what(), "", "");
    } catch (...) {
    }
  }
  std::abort();
}

// Runs before the constructors of shared libraries: those of the image formats allocate, too.
[[gnu::section(".preinit_array"), gnu::used]] void (*const kBeforeLibraries)() = [] {
  std::set_terminate(EndOnException);
};

}  // namespace

void SetUpProcess() {
  OpenClosedStreams();
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  // OpenCV asks GDAL about every image. What that says of memory and files is said better by us.
  setenv("CPL_LOG", "/dev/null", 0);
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
    rshift::EndWith("cannot start another thread (", std::strerror(code),
                    "): allow the process more memory or threads, or give --threads 1");
  }
  return code;
}
