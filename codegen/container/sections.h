// The content of each section. Not for use outside codegen/container and its tests.
#ifndef RSHIFT_CODEGEN_CONTAINER_SECTIONS_H_
#define RSHIFT_CODEGEN_CONTAINER_SECTIONS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codegen/container/image.h"

namespace rshift {

std::vector<uint8_t> WriteMeta(const ProgramImage& image);
std::vector<uint8_t> WriteTensors(const ProgramImage& image);
std::vector<uint8_t> WriteBindings(const ProgramImage& image);
std::vector<uint8_t> WriteCommandNames(const ProgramImage& image);

// Each fills its part of `image`; `where` names file and section. Throws kCorrupt. Bindings and
// command names need the tensors and the commands read before.
void ReadMeta(std::span<const uint8_t> bytes, const std::string& where, ProgramImage& image);
void ReadTensors(std::span<const uint8_t> bytes, const std::string& where, ProgramImage& image);
void ReadBindings(std::span<const uint8_t> bytes, const std::string& where, ProgramImage& image);
void ReadCommandNames(std::span<const uint8_t> bytes, const std::string& where,
                      ProgramImage& image);

// What holds across sections: tensors inside their regions (with slack), bindings and written
// tensors in the arena, constant operands in the constants, unique names. Throws kCorrupt.
void CheckImage(const ProgramImage& image, uint64_t constants_size, const std::string& where);
// Bytes that belong to no constant (alignment and slack) are zero. Throws kCorrupt.
void CheckConstantPadding(const ProgramImage& image, std::span<const uint8_t> constants,
                          const std::string& where);
// Throws kCorrupt unless the section's checksum is the one of the section table.
void RequireChecksum(uint32_t found, uint32_t expected, uint64_t section_offset,
                     const std::string& where);

// The feature bits that the commands need.
uint64_t FeaturesOf(const ProgramImage& image);

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_CONTAINER_SECTIONS_H_
