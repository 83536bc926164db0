// Requantization words: what a rounding allows in the fields of a command and in the records of a
// convolution.
#ifndef RSHIFT_RUNTIME_VERIFY_REQUANT_H_
#define RSHIFT_RUNTIME_VERIFY_REQUANT_H_

#include <initializer_list>
#include <string>

#include "isa/functions.h"
#include "runtime/verify/command_check.h"

namespace rshift::verify {

// The command's rounding; throws unless it is one of `allowed`.
Rounding CheckRounding(const CommandCheck& check, std::initializer_list<Rounding> allowed);

// "product", or "requant of channel 7", when it is printed.
struct WordsName {
  WordsName(const char* what, int64_t number = -1) : text(what), index(number) {}  // NOLINT
  const char* text;
  int64_t index;
};
std::ostream& operator<<(std::ostream& out, const WordsName& name);

// One record, or the multiplier and rshift of a command. Integer roundings: multiplier 0 or in
// [2^30, 2^31), rshift in [0, 62]. Float roundings: multiplier holds a finite f32 >= 0, rshift 0
// or, where `bias_f`, a finite f32. `what` names them in messages.
void CheckWords(const CommandCheck& check, Rounding rounding, bool bias_f, int64_t multiplier,
                int64_t rshift, const WordsName& what);

// kRounding of conv, depthwise and matmul with all that belongs to it: post-operations and their
// addend (kFloatZeroEven), AscendQuant's attributes (kHalfFloat); whatever the rounding does not
// use is at its default.
Rounding CheckTail(const CommandCheck& check);

// A field that the rounding or mode does not use: 0 (for floats +0).
void CheckUnused(const CommandCheck& check, std::initializer_list<Field> fields);
// Throws unless it is a finite number.
void CheckFinite(const CommandCheck& check, Field field);

}  // namespace rshift::verify

#endif  // RSHIFT_RUNTIME_VERIFY_REQUANT_H_
