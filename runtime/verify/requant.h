// Requantization words: what a rounding allows in the fields of a command and in the records of a
// convolution.
#ifndef RSHIFT_RUNTIME_VERIFY_REQUANT_H_
#define RSHIFT_RUNTIME_VERIFY_REQUANT_H_

#include <initializer_list>
#include <string>

#include "isa/functions.h"
#include "runtime/verify/command_check.h"

namespace rshift::verify {

// Throws unless the command's rounding is one of `allowed`.
void CheckRounding(const CommandCheck& check, Rounding rounding,
                   std::initializer_list<Rounding> allowed);
// Of a command that requantizes by two words of its own.
inline constexpr std::initializer_list<Rounding> kRoundingsOfWords = {
    Rounding::kHalfUp,        Rounding::kTwoStep,  Rounding::kFloatEven,
    Rounding::kFloatZeroEven, Rounding::kHalfAway, Rounding::kTwoStepUp};

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
void CheckWords(const CommandCheck& check, Rounding rounding, const RequantWords& words,
                const WordsName& what, bool bias_f = false);

// The rounding of conv, depthwise and matmul with all that belongs to it: post-operations and their
// addend (kFloatZeroEven), AscendQuant's attributes (kHalfFloat); whatever the rounding does not
// use is at its default.
void CheckEpilogue(const CommandCheck& check, Rounding rounding, const HalfEpilogue& half);

// Fields that the rounding or mode does not use: 0 (for floats +0), as the file has them.
void CheckUnused(const CommandCheck& check, std::initializer_list<Field> fields);
// Throws unless the field's value is a finite number.
void CheckFinite(const CommandCheck& check, Field field, float value);

}  // namespace rshift::verify

#endif  // RSHIFT_RUNTIME_VERIFY_REQUANT_H_
