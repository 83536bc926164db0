// The .rshift file: little-endian, 64-byte header, section table, CRC32C per section, constants
// page-aligned for mmap; byte-for-byte reproducible. Layout with an annotated hex dump:
// codegen/FORMAT.md.
#ifndef RSHIFT_CODEGEN_CONTAINER_CONTAINER_H_
#define RSHIFT_CODEGEN_CONTAINER_CONTAINER_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codegen/container/image.h"

namespace rshift {

std::vector<uint8_t> WriteContainer(const ProgramImage& image);

struct ContainerView {
  ProgramImage image;                  // image.constants is left empty: use `constants`
  std::span<const uint8_t> constants;  // points into the file's bytes
  uint64_t constants_offset = 0;       // in the file
  struct Section {
    std::string kind;
    uint64_t offset = 0, size = 0;
    uint32_t crc = 0;
  };
  std::vector<Section> sections;
};

// Checks structure, every CRC, every count and range (tensor bytes inside their regions, command
// fields in the ISA table's ranges); throws kCorrupt naming `where`, section and offset. Semantic
// checks are the runtime's verifier.
ContainerView ReadContainer(std::span<const uint8_t> file, const std::string& where);

// One line per command with tensor names, shapes, types and non-default fields.
std::string Disassemble(const ProgramImage& image);

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_CONTAINER_CONTAINER_H_
