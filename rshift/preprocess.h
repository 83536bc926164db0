/* Pictures as a program takes them, in C99: what the tools do with a decoded picture (resize,
 * letterbox, crop, colour order, mean and scale), by the preprocessing that the program has
 * recorded. In each of the runtime's libraries; needs nothing else, and no OpenCV.
 *
 *   rshift_picture frame = {pixels, 480, 640, 0, RSHIFT_RGB};
 *   if (rshift_session_set_pictures(session, 0, &frame, 1) != RSHIFT_OK) return fail();
 *   rshift_session_run(session);
 *
 * The values are those of model_runner on the same pixels, to the bit. Errors, threads and lifetime
 * as in rshift/rshift.h. docs/embedding.md. */
#ifndef RSHIFT_PREPROCESS_H_
#define RSHIFT_PREPROCESS_H_

#include "rshift/rshift.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The bytes of a pixel. Alpha is passed over; gray from colours is the luma of ITU-R BT.601. */
typedef enum rshift_pixel_order {
  RSHIFT_GRAY = 1,
  RSHIFT_RGB = 2,
  RSHIFT_BGR = 3,
  RSHIFT_RGBA = 4,
  RSHIFT_BGRA = 5
} rshift_pixel_order;

typedef struct rshift_picture {
  const uint8_t* pixels; /* the upper left one; read during the call alone */
  size_t height, width;
  size_t row_bytes; /* from one row to the next; 0: rows without gaps */
  rshift_pixel_order order;
} rshift_picture;

/* Sets an input; `count` is its batch. RSHIFT_UNSUPPORTED where the program has no preprocessing
 * for it: model_deploy --preprocess. */
RSHIFT_API rshift_status rshift_session_set_pictures(rshift_session* session, size_t input,
                                                     const rshift_picture* pictures, size_t count);

/* The same values as floats: of an input of bytes (model_deploy --input-type u8) its elements, as
 * they are; of one of 16 bits the numbers that its integers stand for. The number of elements of
 * the input is written; less `room` is refused. */
RSHIFT_API rshift_status rshift_preprocess(const rshift_program* program, size_t input,
                                           const rshift_picture* pictures, size_t count,
                                           float* values, size_t room);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RSHIFT_PREPROCESS_H_ */
