// isa/ISA.md and the hex dump in codegen/FORMAT.md are made from the code; these tests fail
// when they differ from it. RSHIFT_UPDATE_DOCS=1 writes them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "base/atomic_file.h"
#include "base/checksum.h"
#include "codegen/container/container.h"
#include "codegen/container/layout.h"
#include "isa/markdown.h"
#include "tests/codegen/container/sample_program.h"

namespace rshift {
namespace {

using namespace file_layout;  // NOLINT

constexpr char kDumpBegin[] = "<!-- hex dump: begin -->\n```\n";
constexpr char kDumpEnd[] = "```\n<!-- hex dump: end -->\n";
constexpr char kSmallBegin[] = "<!-- hex dump, 4 bits: begin -->\n```\n";
constexpr char kSmallEnd[] = "```\n<!-- hex dump, 4 bits: end -->\n";

std::string SourcePath(const std::string& relative) {
  const char* root = std::getenv("RSHIFT_SOURCE_DIR");
  return std::string(root != nullptr ? root : "..") + "/" + relative;
}

void ExpectFile(const std::string& path, const std::string& expected) {
  if (std::getenv("RSHIFT_UPDATE_DOCS") != nullptr) WriteFileAtomic(path, expected);
  EXPECT_EQ(ReadTextFile(path), expected)
      << path << " is out of date: run this test with RSHIFT_UPDATE_DOCS=1";
}

struct Note {
  uint64_t offset = 0;
  std::string text;
};

void NoteHeader(std::vector<Note>& notes) {
  notes.insert(notes.end(), {{0x00, "magic"},
                             {0x08, "byte order 0x01020304"},
                             {0x0c, "version: major, minor"},
                             {0x10, "header size; 0x14: number of sections"},
                             {0x18, "file size"},
                             {0x20,
                              "features: bit 0 F32 commands, 1 of rshift_float, 2 views, 3 "
                              "fuse_with_previous, 4 input reuse, 5 "
                              "constants that broadcast, 6 outputs that are cut, 7 constants of 4 "
                              "bits"},
                             {0x28, "flags (0)"},
                             {0x30, "CRC32C of the section table; 0x34: of bytes 0x00..0x33"},
                             {0x38, "reserved (0)"}});
}

std::vector<Note> NotesOf(const ProgramImage& image, const ContainerView& view) {
  std::vector<Note> notes;
  NoteHeader(notes);
  for (size_t i = 0; i < view.sections.size(); ++i) {
    const uint64_t at = kHeaderSize + i * kSectionEntrySize;
    notes.push_back(
        {at, "section " + view.sections[i].kind + ": kind, flags (1: required), offset"});
    notes.push_back({at + 16, "  size, CRC32C, log2 of the alignment"});
  }
  for (const ContainerView::Section& section : view.sections) {
    std::string what = section.kind;
    if (section.kind == "META") what += ": count; then key size, value size, key, value";
    if (section.kind == "BIND") what += ": inputs, outputs; then tensor, name size, name";
    if (section.kind == "CMDS") what += ": the command stream (ISA.md)";
    if (section.kind == "DBUG") what += ": count; then size, name of each command's node";
    if (section.kind == "CNST") what += ": packed weights of 'conv.weights'";
    if (section.kind == "TENS") {
      what += ": arena size, number of tensors, 0";
      uint64_t at = section.offset + 16;
      for (const TensorRecord& tensor : image.tensors) {
        notes.push_back({at, "tensor '" + tensor.name +
                                 "': name size; type, layout, region, quantized; rank; scale"});
        notes.push_back({at + 16, "  zero point, pitch, offset"});
        notes.push_back({at + 32, "  dimensions, 8 of them"});
        at += kTensorRecordSize;
      }
      notes.push_back({at, "names"});
    }
    notes.push_back({section.offset, what});
  }
  notes.push_back(
      {view.constants_offset + 64, "requant records: bias, multiplier, rshift, 0, 0, 0"});
  return notes;
}

// From byte `first` to `last` of the file.
std::string HexDump(const std::vector<uint8_t>& file, const std::vector<Note>& notes,
                    uint64_t first = 0, uint64_t last = UINT64_MAX) {
  std::ostringstream out;
  bool skipping = false;
  const auto hex = [&](uint64_t value, int digits) {
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
      out << "0123456789abcdef"[value >> shift & 15];
  };
  for (uint64_t row = first; row < std::min<uint64_t>(file.size(), last); row += 16) {
    const uint64_t end = std::min<uint64_t>(row + 16, file.size());
    std::string text;
    for (const Note& note : notes) {
      if (note.offset >= row && note.offset < end) text += (text.empty() ? "" : " | ") + note.text;
    }
    bool zero = true;
    for (uint64_t i = row; i < end; ++i) zero = zero && file[i] == 0;
    if (zero && text.empty()) {
      if (!skipping) out << "   *  zeros\n";
      skipping = true;
      continue;
    }
    skipping = false;
    hex(row, 4);
    out << ' ';
    for (uint64_t i = row; i < row + 16; ++i) {
      out << (i % 4 == 0 ? " " : "");
      if (i < end) {
        hex(file[i], 2);
      } else if (!text.empty()) {
        out << "  ";
      }
    }
    if (!text.empty()) out << "  " << text;
    out << '\n';
  }
  return out.str();
}

uint32_t ChecksumOfFields() {
  std::vector<uint8_t> bytes;
  for (const OpSpec& op : IsaTable()) {
    bytes.push_back(static_cast<uint8_t>(op.opcode));
    for (const FieldSpec& field : op.fields) {
      bytes.push_back(static_cast<uint8_t>(field.field));
      bytes.push_back(static_cast<uint8_t>(field.kind));
    }
  }
  return Crc32c(bytes);
}

TEST(Format, FieldsOfCommandsChangeWithTheVersionAlone) {
  EXPECT_EQ(kCommandFields, ChecksumOfFields())
      << "the fields of a command are others than files of version " << kMajor
      << " have: raise kMajor in codegen/container/layout.h (not for a new opcode alone, and once "
         "between two releases), and set kCommandFields to "
      << ChecksumOfFields();
}

TEST(Docs, IsaPageIsMadeFromTheTable) { ExpectFile(SourcePath("isa/ISA.md"), IsaMarkdown()); }

// Expects `dump` between two marks of the page.
void ExpectDump(const char* begin_mark, const std::string& dump, const char* end_mark) {
  const std::string path = SourcePath("codegen/FORMAT.md");
  const std::string page = ReadTextFile(path);
  const size_t begin = page.find(begin_mark), end = page.find(end_mark);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  ExpectFile(path, page.substr(0, begin) + begin_mark + dump + page.substr(end));
}

TEST(Docs, FormatPageShowsTheBytesTheWriterMakes) {
  const ProgramImage image = SampleProgram();
  const std::vector<uint8_t> file = WriteContainer(image);
  const ContainerView view = ReadContainer(file, "sample");
  ExpectDump(kDumpBegin, HexDump(file, NotesOf(image, view)), kDumpEnd);
}

TEST(Docs, FormatPageShowsConstantsOf4Bits) {
  const std::vector<uint8_t> file = WriteContainer(SampleProgramOf4Bits());
  const ContainerView view = ReadContainer(file, "sample");
  std::vector<Note> notes;
  NoteHeader(notes);
  std::string dump;
  for (size_t i = 0; i < view.sections.size(); ++i) {
    if (view.sections[i].kind != "CNS4") continue;
    const ContainerView::Section& section = view.sections[i];
    const uint64_t entry = kHeaderSize + i * kSectionEntrySize;
    notes.push_back({entry, "section CNS4: kind, flags (1: required), offset"});
    notes.push_back({entry + 16, "  size, CRC32C, log2 of the alignment"});
    notes.push_back({section.offset, "CNS4: packed weights of 'conv.weights', two to a byte"});
    notes.push_back({view.constants_offset, "CNST: the requant records alone"});
    dump = HexDump(file, notes, 0x20, 0x30) + HexDump(file, notes, entry, entry + 32) +
           HexDump(file, notes, view.constants_offset);
  }
  ExpectDump(kSmallBegin, dump, kSmallEnd);
}

}  // namespace
}  // namespace rshift
