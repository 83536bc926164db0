// A device's program: it links rshift_runtime, whole, and nothing else. dependency_test.py looks at
// the shared libraries it needs.
#include <cstdio>

#include "base/error.h"
#include "runtime/runtime.h"

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s program.rshift\n", argv[0]), 2;
  try {
    const rshift::Program program = rshift::Program::Load(argv[1]);
    rshift::Session session(program);
    session.Run();
  } catch (const rshift::Error& error) {
    return std::fprintf(stderr, "error: %s\n", error.what()), 1;
  }
  return 0;
}
