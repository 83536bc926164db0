// How findings name things and write figures.
#ifndef RSHIFT_PIPELINE_DIAGNOSE_FINDING_TEXT_H_
#define RSHIFT_PIPELINE_DIAGNOSE_FINDING_TEXT_H_

#include <string>

#include "pipeline/diagnose/facts.h"

namespace rshift {

// Four digits: "0.1234", "1.2e-05".
std::string Figure(double number);
// "1.5 %" of a share of 0.015.
std::string PercentText(double share);
// "'conv1' of Conv 'conv1_node'", "input 'x'". What --equalize has added to a name is left out: it
// is the model's tensor.
std::string WhereText(const TensorFacts& facts);
std::string PlainName(const std::string& tensor);

}  // namespace rshift

#endif  // RSHIFT_PIPELINE_DIAGNOSE_FINDING_TEXT_H_
