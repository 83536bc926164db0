// Program image -> .rshift bytes.

#include "base/checksum.h"
#include "base/error.h"
#include "codegen/container/bytes.h"
#include "codegen/container/container.h"
#include "codegen/container/layout.h"
#include "codegen/container/nibbles.h"
#include "codegen/container/sections.h"

namespace rshift {
namespace {

using namespace file_layout;  // NOLINT: the names of this file's own format

uint64_t AlignUp(uint64_t value, int log2) {
  const uint64_t mask = (uint64_t{1} << log2) - 1;
  return (value + mask) & ~mask;
}

struct Section {
  SectionKind kind;
  std::span<const uint8_t> bytes;
  uint64_t offset = 0;
};

std::vector<uint8_t> WriteSectionTable(const std::vector<Section>& sections) {
  ByteWriter out;
  for (const Section& section : sections) {
    out.PutText(section.kind.name);
    out.Put<uint32_t>(section.kind.required ? kSectionRequired : 0);
    out.Put<uint64_t>(section.offset);
    out.Put<uint64_t>(section.bytes.size());
    out.Put<uint32_t>(Crc32c(section.bytes));
    out.Put<uint32_t>(section.kind.align_log2);
  }
  return out.Take();
}

std::vector<uint8_t> WriteHeader(std::span<const uint8_t> section_table, uint64_t file_size,
                                 uint64_t features) {
  ByteWriter out;
  out.PutBytes(kMagic);
  out.Put<uint32_t>(kByteOrder);
  out.Put<uint16_t>(kMajor);
  out.Put<uint16_t>(kMinor);
  out.Put<uint32_t>(kHeaderSize);
  out.Put<uint32_t>(section_table.size() / kSectionEntrySize);
  out.Put<uint64_t>(file_size);
  out.Put<uint64_t>(features);
  out.Put<uint64_t>(0);  // flags
  out.Put<uint32_t>(Crc32c(section_table));
  std::vector<uint8_t> header = out.Take();
  ByteWriter crc;
  crc.Put<uint32_t>(Crc32c(header));
  const std::vector<uint8_t> crc_bytes = crc.Take();
  header.insert(header.end(), crc_bytes.begin(), crc_bytes.end());
  header.resize(kHeaderSize);
  return header;
}

}  // namespace

std::vector<uint8_t> WriteContainer(const ProgramImage& image) {
  try {
    CheckImage(image, image.constants.size(), "program");
    CheckConstantPadding(image, image.constants, "program");
  } catch (const Error& error) {
    Fail(ErrorCode::kInternal, error.what(), " (the compiler made a program that readers refuse)");
  }
  const std::vector<uint8_t> meta = WriteMeta(image), tensors = WriteTensors(image),
                             bindings = WriteBindings(image),
                             commands = EncodeCommands(image.commands),
                             names = WriteCommandNames(image);
  const std::span<const uint8_t> constants(image.constants);
  const uint64_t of_8_bits = image.constants_of_4_bits.value_or(constants.size());
  const std::vector<uint8_t> nibbles = PackNibbles(constants.subspan(of_8_bits));
  const std::array<std::span<const uint8_t>, kSections.size()> contents = {
      meta, tensors, bindings, commands, names, constants.first(of_8_bits), nibbles};
  std::vector<Section> sections;
  for (size_t i = 0; i < kSections.size(); ++i) {
    const bool absent = (kSections[i].name == "DBUG" && image.command_names.empty()) ||
                        (kSections[i].name == "CNS4" && nibbles.empty());
    if (!absent) sections.push_back({kSections[i], contents[i]});
  }
  uint64_t end = kHeaderSize + sections.size() * kSectionEntrySize;
  for (Section& section : sections) {
    section.offset = AlignUp(end, section.kind.align_log2);
    end = section.offset + section.bytes.size();
  }
  const std::vector<uint8_t> table = WriteSectionTable(sections);
  ByteWriter file;
  file.Reserve(end);
  file.PutBytes(WriteHeader(table, end, FeaturesOf(image)));
  file.PutBytes(table);
  for (const Section& section : sections) {
    file.PadTo(section.offset);
    file.PutBytes(section.bytes);
  }
  return file.Take();
}

}  // namespace rshift
