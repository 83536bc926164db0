// F32 convolution, deconvolution, matrix product and average pooling on oneDNN and Eigen.
#ifndef RSHIFT_RUNTIME_FLOAT_FLOAT_LIBRARY_H_
#define RSHIFT_RUNTIME_FLOAT_FLOAT_LIBRARY_H_

namespace rshift {

// Call once, before the first Session of a program with F32 commands. Idempotent and thread-safe.
void RegisterFloatLibrary();

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_FLOAT_FLOAT_LIBRARY_H_
