// .rshift bytes -> program image. The bytes may be anything.
#include <algorithm>

#include "base/checked.h"
#include "base/checksum.h"
#include "base/error.h"
#include "base/file_kind.h"
#include "codegen/container/bytes.h"
#include "codegen/container/container.h"
#include "codegen/container/layout.h"
#include "codegen/container/nibbles.h"
#include "codegen/container/sections.h"

namespace rshift {
namespace {

using namespace file_layout;  // NOLINT: the names of this file's own format

struct Header {
  uint32_t section_count = 0;
  uint32_t table_crc = 0;
  uint64_t features = 0;
};

struct Entry {
  ContainerView::Section section;
  uint32_t flags = 0;
  uint32_t align_log2 = 0;
};

void CheckVersion(ByteReader& in, std::span<const uint8_t> file, const std::string& where) {
  const std::span<const uint8_t> magic = in.GetBytes(kMagic.size(), "magic");
  RSHIFT_REQUIRE(std::equal(magic.begin(), magic.end(), kMagic.begin()), ErrorCode::kCorrupt, where,
                 ": not an Rshift program (the first 8 bytes are not RSHIFT\\x1a\\0)",
                 KindNote(file));
  if (in.Get<uint32_t>("byte order") != kByteOrder) in.Bad("byte order is not little-endian");
  const auto major = in.Get<uint16_t>("major version");
  in.Get<uint16_t>("minor version");
  if (major != kMajor) {
    in.Bad("file format version ", major, ", expected ", kMajor, ": deploy the model again");
  }
}

Header ReadHeader(std::span<const uint8_t> file, const std::string& where) {
  RSHIFT_REQUIRE(file.size() >= kHeaderSize, ErrorCode::kCorrupt, where, ": file has ", file.size(),
                 " bytes, expected at least ", kHeaderSize,
                 ": it is cut off or not an Rshift program", KindNote(file));
  ByteReader in(file.first(kHeaderSize), where + ": header");
  CheckVersion(in, file, where);
  const auto header_size = in.Get<uint32_t>("header size");
  Header header;
  header.section_count = in.Get<uint32_t>("section count");
  const auto file_size = in.Get<uint64_t>("file size");
  header.features = in.Get<uint64_t>("features");
  const auto flags = in.Get<uint64_t>("flags");
  header.table_crc = in.Get<uint32_t>("section table crc");
  const auto crc = in.Get<uint32_t>("header crc");
  if (crc != Crc32c(file.first(kHeaderCrcAt))) in.Bad("checksum differs: the file is damaged");
  in.ExpectZero(8, "reserved bytes");
  if (header_size != kHeaderSize)
    in.Bad("header has ", header_size, " bytes, expected ", kHeaderSize);
  if (flags != 0) in.Bad("flags are ", flags, ", expected 0");
  RSHIFT_REQUIRE(file_size == file.size(), ErrorCode::kCorrupt, where, ": file has ", file.size(),
                 " bytes, expected ", file_size, ": it is ",
                 file.size() < file_size ? "cut off" : "followed by other bytes");
  if (header.section_count > kMaxSections) {
    in.Bad(header.section_count, " sections, expected at most ", kMaxSections);
  }
  if ((header.features & ~kKnownFeatures) != 0) {
    in.Bad("program needs features ", header.features, ", of which this version knows ",
           kKnownFeatures);
  }
  return header;
}

// Sections follow each other without overlap, and the bytes between them are zero.
std::vector<Entry> ReadSectionTable(std::span<const uint8_t> file, const Header& header,
                                    const std::string& where) {
  const std::string table_where = where + ": section table";
  ByteReader rest(file.subspan(kHeaderSize), table_where);
  const std::span<const uint8_t> table =
      rest.GetBytes(header.section_count * kSectionEntrySize, "section table");
  if (Crc32c(table) != header.table_crc) rest.Bad("checksum differs: the file is damaged");
  ByteReader in(table, table_where);
  std::vector<Entry> entries;
  uint64_t end = kHeaderSize + table.size();
  for (uint32_t i = 0; i < header.section_count; ++i) {
    Entry entry;
    entry.section.kind = in.GetText(4, "kind");
    entry.flags = in.Get<uint32_t>("flags");
    entry.section.offset = in.Get<uint64_t>("offset");
    entry.section.size = in.Get<uint64_t>("size");
    entry.section.crc = in.Get<uint32_t>("crc");
    entry.align_log2 = in.Get<uint32_t>("alignment");
    if (entry.flags > kSectionRequired) in.Bad("unknown section flags ", entry.flags);
    if (entry.align_log2 < kAlignLog2 || entry.align_log2 > kConstantsAlignLog2) {
      in.Bad("alignment is 2^", entry.align_log2, ", expected 2^6..2^12");
    }
    const auto expected = CheckedRoundUp<uint64_t>(end, uint64_t{1} << entry.align_log2);
    if (!expected || entry.section.offset != *expected) {
      in.Bad("section is at offset ", entry.section.offset, ", expected ", expected.value_or(0));
    }
    if (!RangeFits(entry.section.offset, entry.section.size, file.size())) {
      in.Bad("section of ", entry.section.size, " bytes at offset ", entry.section.offset,
             " leaves the file of ", file.size(), " bytes");
    }
    ByteReader padding(file.subspan(end, entry.section.offset - end), where);
    padding.ExpectZero(entry.section.offset - end, "bytes between sections");
    end = entry.section.offset + entry.section.size;
    entries.push_back(std::move(entry));
  }
  if (end != file.size()) in.Bad(file.size() - end, " bytes after the last section");
  return entries;
}

// The known sections in the order of kSections; null where the file has none. Unknown optional ones
// are skipped.
std::array<const Entry*, kSections.size()> SortOut(const std::vector<Entry>& entries,
                                                   const std::string& where) {
  std::array<const Entry*, kSections.size()> found{};
  size_t next = 0;
  for (const Entry& entry : entries) {
    const auto kind = std::find_if(kSections.begin(), kSections.end(), [&](const SectionKind& k) {
      return k.name == entry.section.kind;
    });
    if (kind == kSections.end()) {
      RSHIFT_REQUIRE(entry.flags == 0, ErrorCode::kCorrupt, where,
                     ": section table: required section of "
                     "unknown kind: the file is damaged or newer than this program");
      continue;
    }
    const size_t index = kind - kSections.begin();
    RSHIFT_REQUIRE(index >= next, ErrorCode::kCorrupt, where, ": section ", kind->name,
                   " is out of order or twice there");
    RSHIFT_REQUIRE(entry.flags == (kind->required ? kSectionRequired : 0) &&
                       entry.align_log2 == static_cast<uint32_t>(kind->align_log2),
                   ErrorCode::kCorrupt, where, ": section ", kind->name,
                   " has wrong flags or alignment");
    found[index] = &entry;
    next = index + 1;
  }
  for (size_t i = 0; i < kSections.size(); ++i) {
    RSHIFT_REQUIRE(found[i] != nullptr || !kSections[i].everywhere, ErrorCode::kCorrupt, where,
                   ": section ", kSections[i].name, " is missing");
  }
  return found;
}

void ReadCommands(std::span<const uint8_t> bytes, const std::string& where, ProgramImage& image) {
  try {
    image.commands = DecodeCommands(bytes, static_cast<int64_t>(image.tensors.size()));
  } catch (const Error& error) {
    Fail(error.code(), where, ": ", error.what());
  }
}

// Constants of 4 bits stand behind those of 8, and like them they have a byte each in memory.
void Unpack(std::span<const uint8_t> packed, const std::string& where, ContainerView* view) {
  RSHIFT_REQUIRE(!packed.empty() && packed.size() % (kTensorAlignment / 2) == 0 &&
                     view->constants.size() % kTensorAlignment == 0,
                 ErrorCode::kCorrupt, where, ": section CNS4 has ", packed.size(),
                 " bytes behind constants of ", view->constants.size(), ", expected multiples of ",
                 kTensorAlignment / 2, " and ", kTensorAlignment);
  view->image.constants_of_4_bits = view->constants.size();
  auto all = std::make_shared<AlignedBuffer>(view->constants.size() + 2 * packed.size());
  std::copy(view->constants.begin(), view->constants.end(), all->data());
  UnpackNibbles(packed, all->data() + view->constants.size());
  view->constants = all->bytes();
  view->unpacked = std::move(all);
}

}  // namespace

ContainerView ReadStructure(std::span<const uint8_t> file, const std::string& where) {
  const Header header = ReadHeader(file, where);
  const std::vector<Entry> entries = ReadSectionTable(file, header, where);
  const std::array<const Entry*, kSections.size()> found = SortOut(entries, where);
  ContainerView view;
  for (const Entry& entry : entries) {
    view.sections.push_back(entry.section);
    if (&entry == found[kConstantsIndex]) continue;
    RequireChecksum(Crc32c(file.subspan(entry.section.offset, entry.section.size)),
                    entry.section.crc, entry.section.offset, where);
  }
  using ReadSection = void (*)(std::span<const uint8_t>, const std::string&, ProgramImage&);
  constexpr std::array<ReadSection, kSections.size()> kReaders = {
      ReadMeta, ReadTensors, ReadBindings, ReadCommands, ReadCommandNames, nullptr, nullptr};
  for (size_t i = 0; i < kSections.size(); ++i) {
    if (found[i] == nullptr) continue;
    const ContainerView::Section& section = found[i]->section;
    const std::span<const uint8_t> bytes = file.subspan(section.offset, section.size);
    if (kReaders[i] != nullptr) {
      kReaders[i](bytes, Cat(where, ": section ", section.kind), view.image);
    } else if (i == kConstantsOf4BitsIndex) {
      Unpack(bytes, where, &view);
    } else {
      view.constants = bytes;
      view.constants_offset = section.offset;
      view.constants_crc = section.crc;
    }
  }
  CheckImage(view.image, view.constants.size(), where);
  RSHIFT_REQUIRE(header.features == FeaturesOf(view.image), ErrorCode::kCorrupt, where,
                 ": header: feature bits are ", header.features, ", expected ",
                 FeaturesOf(view.image));
  return view;
}

ContainerView ReadContainer(std::span<const uint8_t> file, const std::string& where) {
  ContainerView view = ReadStructure(file, where);
  ConstantsCheck(view, where).Finish();
  return view;
}

}  // namespace rshift
