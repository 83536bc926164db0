#include "tools/process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
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

// Whether this code belongs to the shared library of this name.
bool BelongsTo(const char* library, const void* code) {
  Dl_info info;
  return dladdr(code, &info) != 0 && info.dli_fname != nullptr &&
         std::strstr(info.dli_fname, library) != nullptr;
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
  if (code != 0 && rshift::BelongsTo("libgomp", __builtin_return_address(0))) {
    rshift::EndWith("cannot start another thread (", std::strerror(code),
                    "): allow the process more memory or threads, or give --threads 1");
  }
  return code;
}

// libgomp ends the process with a text of its own where it gets no memory for the bookkeeping of
// its threads, and two threads write that text into each other. It begins here, with the reason
// still in errno: other messages of libgomp, and all other writers, pass.
extern "C" size_t fwrite(const void* data, size_t size, size_t count, FILE* stream) {
  using Write = size_t (*)(const void*, size_t, size_t, FILE*);
  static const auto write = reinterpret_cast<Write>(dlsym(RTLD_NEXT, "fwrite"));
  if (stream == stderr && errno == ENOMEM &&
      rshift::BelongsTo("libgomp", __builtin_return_address(0))) {
    rshift::EndWith("out of memory", "", "");
  }
  return write(data, size, count, stream);
}

// oneDNN 2.7 writes through a null pointer where it gets no memory for its kernels, in whatever
// thread that is. Callers other than oneDNN see the C library's result. A sanitizer has functions
// of its own in these places, and no limit of memory it could run under.
#ifndef RSHIFT_SANITIZED
namespace rshift {
namespace {

void EndIfOneDnnGotNothing(bool failed, const void* caller) {
  if (failed && BelongsTo("libdnnl", caller)) EndWith("out of memory", "", "");
}

}  // namespace
}  // namespace rshift

extern "C" void* mmap(void* address, size_t length, int protection, int flags, int file,
                      off_t offset) noexcept {
  using Map = void* (*)(void*, size_t, int, int, int, off_t);
  static const auto map = reinterpret_cast<Map>(dlsym(RTLD_NEXT, "mmap"));
  void* const mapped = map(address, length, protection, flags, file, offset);
  rshift::EndIfOneDnnGotNothing(mapped == MAP_FAILED, __builtin_return_address(0));
  return mapped;
}

extern "C" int posix_memalign(void** memory, size_t alignment, size_t size) noexcept {
  using Allocate = int (*)(void**, size_t, size_t);
  static const auto allocate = reinterpret_cast<Allocate>(dlsym(RTLD_NEXT, "posix_memalign"));
  const int code = allocate(memory, alignment, size);
  rshift::EndIfOneDnnGotNothing(code != 0, __builtin_return_address(0));
  return code;
}
#endif
