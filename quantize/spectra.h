// Spectra: what a Fourier transform gives, until a logarithm or a power compresses it.
#ifndef RSHIFT_QUANTIZE_SPECTRA_H_
#define RSHIFT_QUANTIZE_SPECTRA_H_

#include <vector>

#include "graph/graph.h"

namespace rshift {

// By node: whether it computes a spectrum, whose bins lie orders of magnitude apart, so that one
// scale rounds most of them away.
//
// 1. Matrix products with a constant matrix [K, N] of cos(2 pi k n / K), or of sines, times any
//    number; K is 8 or more.
// 2. What reads their results and makes others of that kind: movements, functions, sums, products
//    with each other and with matrices without a number below 0 (mel filters).
// 3. Up to and with a logarithm, a power of at most 1/2, or a function whose bounds are filled
//    (known_bounds.h). Other products with weights read spectra and are not among these.
// 4. What nothing but these reads and is no product with weights: windows.
std::vector<bool> SpectralNodes(const Graph& graph);

}  // namespace rshift

#endif  // RSHIFT_QUANTIZE_SPECTRA_H_
