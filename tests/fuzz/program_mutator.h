// Changes to a program that a file could hold: what the reader and the verifier must refuse or make
// safe.
#ifndef RSHIFT_TESTS_FUZZ_PROGRAM_MUTATOR_H_
#define RSHIFT_TESTS_FUZZ_PROGRAM_MUTATOR_H_

#include "tests/runtime/program_builder.h"

namespace rshift::testing {

// One to three changes of fields, tensors, lists and weights, arena, bindings or commands. Often
// the tensors are then laid out anew, so that a new size is what is tried and not only its place.
void MutateImage(ProgramImage& image, Random& random);

// The same, on the bytes: some numbers in the header and the sections before the constants; all
// checksums are made to fit.
void MutateFile(Bytes& file, Random& random);

}  // namespace rshift::testing

#endif  // RSHIFT_TESTS_FUZZ_PROGRAM_MUTATOR_H_
