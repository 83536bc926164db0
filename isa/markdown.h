// isa/ISA.md as text, made from the instruction table; a test compares it with the file in the
// tree.
#ifndef RSHIFT_ISA_MARKDOWN_H_
#define RSHIFT_ISA_MARKDOWN_H_

#include <string>

namespace rshift {

std::string IsaMarkdown();

}  // namespace rshift

#endif  // RSHIFT_ISA_MARKDOWN_H_
