/* Runs a program on a picture, prepared as the program has recorded it: embed_picture net.rshift photo.ppm (binary PPM
 * or PGM, as djpeg writes them). Prints the first output, one value per line. */
#include <rshift/preprocess.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const char* text) { return fprintf(stderr, "error: %s\n", text), 1; }

/* The pixels, or NULL. */
static uint8_t* read_picture(const char* path, rshift_picture* picture) {
  char kind;
  uint8_t* pixels = NULL;
  FILE* file = fopen(path, "rb");
  if (file == NULL) return NULL;
  if (fscanf(file, "P%c %zu %zu 255%*c", &kind, &picture->width, &picture->height) == 3 &&
      (kind == '5' || kind == '6') && picture->width <= 16384 && picture->height <= 16384) {
    const size_t size = picture->width * picture->height * (kind == '6' ? 3 : 1);
    picture->order = kind == '6' ? RSHIFT_RGB : RSHIFT_GRAY;
    picture->row_bytes = 0;
    pixels = malloc(size + 1);
    if (pixels != NULL && fread(pixels, 1, size, file) != size) {
      free(pixels);
      pixels = NULL;
    }
  }
  fclose(file);
  picture->pixels = pixels;
  return pixels;
}

int main(int argc, char** argv) {
  rshift_program* program;
  rshift_session* session;
  rshift_tensor output;
  rshift_picture picture;
  if (argc != 3) return fprintf(stderr, "usage: %s net.rshift photo.ppm\n", argv[0]), 2;
  if (rshift_program_load(argv[1], NULL, &program) != RSHIFT_OK) return fail(rshift_error_text());
  if (rshift_session_open(program, 1, &session) != RSHIFT_OK) return fail(rshift_error_text());
  uint8_t* pixels = read_picture(argv[2], &picture);
  if (pixels == NULL) return fail("the picture cannot be read; expected a PPM (P6) or PGM (P5) file of 8 bits");

  if (rshift_session_set_pictures(session, 0, &picture, 1) != RSHIFT_OK) return fail(rshift_error_text());
  free(pixels);
  if (rshift_session_run(session) != RSHIFT_OK) return fail(rshift_error_text());

  if (rshift_session_output(session, 0, &output) != RSHIFT_OK) return fail(rshift_error_text());
  float* scores = malloc((output.elements + 1) * sizeof(float));
  if (scores == NULL) return fail("out of memory");
  if (rshift_session_get_floats(session, 0, scores, output.elements, NULL) != RSHIFT_OK)
    return fail(rshift_error_text());
  for (size_t i = 0; i < output.elements; ++i) printf("%.9g\n", scores[i]);

  free(scores);
  rshift_session_free(session);
  rshift_program_free(program);
  return 0;
}
