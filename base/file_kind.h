// What a file is that was given to the wrong reader.
#ifndef RSHIFT_BASE_FILE_KIND_H_
#define RSHIFT_BASE_FILE_KIND_H_

#include <cstdint>
#include <span>
#include <string>

namespace rshift {

// "; it is a TensorFlow Lite model: model_deploy makes a program of it": a tail for the message of
// a reader that does not know the content, by its first bytes, with the program that does. Empty
// when there is no telling. `expects_onnx`: the reader is that of ONNX files, which are damaged
// then.
std::string KindNote(std::span<const uint8_t> bytes, bool expects_onnx = false);

}  // namespace rshift

#endif  // RSHIFT_BASE_FILE_KIND_H_
