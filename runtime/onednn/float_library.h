// F32 convolution, deconvolution, matrix product and average pooling on oneDNN.
#ifndef RSHIFT_RUNTIME_ONEDNN_FLOAT_LIBRARY_H_
#define RSHIFT_RUNTIME_ONEDNN_FLOAT_LIBRARY_H_

#include <string>

namespace rshift {

// Call once, before the first Session of a program with F32 commands. Idempotent and thread-safe.
void RegisterFloatLibrary();

// Version of the library that computes F32 convolutions at run time, e.g. "2.6.3": part of what a
// table was measured with.
std::string OneDnnVersion();

}  // namespace rshift

#endif  // RSHIFT_RUNTIME_ONEDNN_FLOAT_LIBRARY_H_
