// How the output is called that an input will be in the next run.
#ifndef RSHIFT_BASE_NEXT_VALUE_H_
#define RSHIFT_BASE_NEXT_VALUE_H_

namespace rshift {

// Behind the input's name. Variables of .tflite files become such pairs; model_runner --carry auto
// finds them.
inline constexpr char kNextValue[] = "/next";

}  // namespace rshift

#endif  // RSHIFT_BASE_NEXT_VALUE_H_
