// The numbers of the file layout; see codegen/FORMAT.md. Not for use outside codegen/container and
// its tests.
#ifndef RSHIFT_CODEGEN_CONTAINER_LAYOUT_H_
#define RSHIFT_CODEGEN_CONTAINER_LAYOUT_H_

#include <array>
#include <cstdint>
#include <string_view>

namespace rshift::file_layout {

inline constexpr std::array<uint8_t, 8> kMagic = {'R', 'S', 'H', 'I', 'F', 'T', 0x1a, 0};
inline constexpr uint32_t kByteOrder = 0x01020304;
inline constexpr uint16_t kMajor = 4;  // must match; what changed: FORMAT.md
// CRC32C of what each command's bits stand for: its opcode, then its fields in order, number and
// kind (tests/codegen/container/docs_test.cc). When it changes, a command of an old file would be
// read as another one: raise kMajor, unless nothing but new opcodes was added.
inline constexpr uint32_t kCommandFields = 0x1f2a0e2f;
inline constexpr uint16_t kMinor = 0;  // a newer minor version only adds optional sections

// Header, 64 bytes.
inline constexpr uint64_t kHeaderSize = 64;
inline constexpr uint64_t kTableCrcAt = 0x30;   // CRC32C of the section table
inline constexpr uint64_t kHeaderCrcAt = 0x34;  // CRC32C of bytes [0, 0x34)

// Features a program needs; a reader refuses bits it does not know.
inline constexpr uint64_t kFeatureFloat = 1;         // has F32 commands of the runtime itself
inline constexpr uint64_t kFeatureFloatLibrary = 2;  // has F32 commands of rshift_float
inline constexpr uint64_t kFeatureViews = 4;  // has tensors with a pitch, or off the grid of 64
inline constexpr uint64_t kFeatureFusedEpilogue = 8;  // has commands with fuse_with_previous
inline constexpr uint64_t kFeatureInputReuse = 16;    // inputs are to be filled before each run
inline constexpr uint64_t kFeatureBroadcast = 32;     // has constants smaller than what they meet
inline constexpr uint64_t kFeatureCutOutputs = 64;    // has outputs of which a part counts
inline constexpr uint64_t kFeature4Bits = 128;        // has constants of 4 bits
inline constexpr uint64_t kKnownFeatures = kFeatureFloat | kFeatureFloatLibrary | kFeatureViews |
                                           kFeatureFusedEpilogue | kFeatureInputReuse |
                                           kFeatureBroadcast | kFeatureCutOutputs | kFeature4Bits;

// Section table entry, 32 bytes: kind, flags, offset, size, crc32c, log2 of the alignment.
inline constexpr uint64_t kSectionEntrySize = 32;
inline constexpr uint32_t kSectionRequired = 1;
inline constexpr uint32_t kMaxSections = 64;
inline constexpr int kAlignLog2 = 6;
inline constexpr int kConstantsAlignLog2 = 12;  // one page, for mmap

struct SectionKind {
  std::string_view name;
  bool required = false;  // a reader must understand it
  int align_log2 = kAlignLog2;
  bool everywhere = required;  // every file has it
};
// In file order.
inline constexpr std::array<SectionKind, 7> kSections = {{
    {"META", true},   // sorted text metadata
    {"TENS", true},   // arena size, tensor records, names
    {"BIND", true},   // graph inputs and outputs
    {"CMDS", true},   // command stream
    {"DBUG", false},  // the graph node of each command
    {"CNST", true, kConstantsAlignLog2},
    {"CNS4", true, kAlignLog2, false},  // constants of 4 bits, two to a byte
}};
inline constexpr size_t kConstantsIndex = 5, kConstantsOf4BitsIndex = 6;

inline constexpr uint64_t kTensorRecordSize = 96;
inline constexpr uint64_t kSlack = 64;  // readable bytes after the last tensor of a region
inline constexpr uint64_t kMaxArena = uint64_t{1} << 40;

}  // namespace rshift::file_layout

#endif  // RSHIFT_CODEGEN_CONTAINER_LAYOUT_H_
