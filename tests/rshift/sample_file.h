// A program file for tests that include rshift/rshift.hpp, which no header of the library's inside
// may stand beside: both have a rshift::Program.
#ifndef RSHIFT_TESTS_RSHIFT_SAMPLE_FILE_H_
#define RSHIFT_TESTS_RSHIFT_SAMPLE_FILE_H_

#include <cstdint>
#include <vector>

// x [2, 3], s8 with scale 0.5 and zero point 1 -> the same.
std::vector<uint8_t> SampleFile();

#endif  // RSHIFT_TESTS_RSHIFT_SAMPLE_FILE_H_
