// Loops for the vectoriser, compiled for each instruction set by attributes of their functions, in
// units that are for any CPU.
#ifndef RSHIFT_RUNTIME_KERNELS_GENERIC_TARGETS_H_
#define RSHIFT_RUNTIME_KERNELS_GENERIC_TARGETS_H_

#if defined(__x86_64__)
#define RSHIFT_TARGET_AVX2 [[gnu::target("avx2,fma")]]
#define RSHIFT_TARGET_AVX512 [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]]
#if defined(__clang__)  // does not take the width here: 256 bits serve as well
#define RSHIFT_TARGET_WIDE RSHIFT_TARGET_AVX512
#else
#define RSHIFT_TARGET_WIDE \
  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma,prefer-vector-width=512")]]
#endif

// DEFINE(name, attribute) defines struct `name` with functions of that attribute.
#define RSHIFT_FOR_TARGETS(DEFINE)  \
  DEFINE(Scalar, );                 \
  DEFINE(Avx2, RSHIFT_TARGET_AVX2); \
  DEFINE(Avx512, RSHIFT_TARGET_WIDE)
#else
#define RSHIFT_FOR_TARGETS(DEFINE) DEFINE(Scalar, )
#endif

#endif  // RSHIFT_RUNTIME_KERNELS_GENERIC_TARGETS_H_
