// The geometry of sliding windows.
#ifndef RSHIFT_RUNTIME_VERIFY_WINDOW_H_
#define RSHIFT_RUNTIME_VERIFY_WINDOW_H_

#include "runtime/verify/command_check.h"

namespace rshift::verify {

// src and dst are images with equal N, and dst's H and W are exactly what the window makes of
// src's; `height` is the dimension of H, W the next one.
void CheckConvWindow(const CommandCheck& check, const Window& window, size_t height = 1);
// As above, or up to one more in each dimension (ceil_mode); every window has at least one tap
// inside the image.
void CheckPoolWindow(const CommandCheck& check, const Window& window);
// `groups` divide the channels of two images.
void CheckGroups(const CommandCheck& check, int64_t groups);

}  // namespace rshift::verify

#endif  // RSHIFT_RUNTIME_VERIFY_WINDOW_H_
