// One instruction that not every x86-64 CPU has, whoever runs it: the control of old_cpu_test.py.
#include <cstdio>
#include <cstring>

int main(int argc, char** argv) {
  const char* wanted = argc == 2 ? argv[1] : "";
  if (std::strcmp(wanted, "avx") == 0) {
    asm volatile("vaddps %%ymm0, %%ymm0, %%ymm0" ::: "xmm0");
  } else if (std::strcmp(wanted, "avx512") == 0) {
    asm volatile("vaddps %%zmm0, %%zmm0, %%zmm0" ::: "xmm0");
  } else {
    return std::fprintf(stderr, "usage: %s avx|avx512\n", argv[0]), 2;
  }
  return 0;
}
