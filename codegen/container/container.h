// The .rshift file: little-endian, 64-byte header, section table, CRC32C per section, constants
// page-aligned for mmap; byte-for-byte reproducible. Layout with an annotated hex dump:
// codegen/FORMAT.md.
#ifndef RSHIFT_CODEGEN_CONTAINER_CONTAINER_H_
#define RSHIFT_CODEGEN_CONTAINER_CONTAINER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "codegen/container/image.h"

namespace rshift {

std::vector<uint8_t> WriteContainer(const ProgramImage& image);

struct ContainerView {
  ProgramImage image;                  // image.constants is left empty: use `constants`
  std::span<const uint8_t> constants;  // points into the file's bytes, or into `unpacked`
  // All constants, where some of them have 4 bits in the file; else null.
  std::shared_ptr<const AlignedBuffer> unpacked;
  uint64_t constants_offset = 0;  // of those of 8 bits, in the file
  uint32_t constants_crc = 0;     // likewise, as the section table has it
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
// The same but for the content of the constants, which is most of the file: that is left to
// ConstantsCheck.
ContainerView ReadStructure(std::span<const uint8_t> file, const std::string& where);

// The checks on the content of the constants (those of 4 bits have passed them when ReadStructure
// returns, but for what lies between tensors), for a reader that walks through them anyway and
// would have each byte fetched from memory once: it calls ReadTo() before it looks at a stretch,
// and Finish() at the end. What it read is not to be believed before that.
class ConstantsCheck {
 public:
  // `view` must outlive the check and keep its tensors.
  ConstantsCheck(const ContainerView& view, const std::string& where);

  std::span<const uint8_t> bytes() const { return view_.constants; }
  // Takes at least [0, end) into the checksum; never the same byte twice.
  void ReadTo(uint64_t end);
  // The rest of it. Throws kCorrupt when the checksum is not the section table's, or a byte that
  // belongs to no tensor is not zero.
  void Finish();

 private:
  const ContainerView& view_;
  const std::string where_;
  uint64_t done_ = 0;
  uint32_t crc_ = 0;
};

// One line per command with tensor names, shapes, types and non-default fields.
std::string Disassemble(const ProgramImage& image);

}  // namespace rshift

#endif  // RSHIFT_CODEGEN_CONTAINER_CONTAINER_H_
