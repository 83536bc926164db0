/* Runs a program on one sample: embed_c net.rshift < input.f32, the first input's values as raw float32, in the
 * order of the ONNX model. Prints the first output, one value per line. */
#include <rshift/rshift.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(void) { return fprintf(stderr, "error: %s\n", rshift_error_text()), 1; }

int main(int argc, char** argv) {
  rshift_program* program;
  rshift_session* session;
  rshift_tensor input, output;
  if (argc != 2) return fprintf(stderr, "usage: %s net.rshift < input.f32\n", argv[0]), 2;
  if (rshift_program_load(argv[1], NULL, &program) != RSHIFT_OK) return fail();
  if (rshift_session_open(program, 1, &session) != RSHIFT_OK) return fail();

  if (rshift_program_input(program, 0, &input) != RSHIFT_OK) return fail();
  float* values = malloc((input.elements + 1) * sizeof(float));
  if (values == NULL) return fprintf(stderr, "error: out of memory\n"), 1;
  const size_t count = fread(values, sizeof(float), input.elements + 1, stdin);
  if (rshift_session_set_floats(session, 0, values, count) != RSHIFT_OK) return fail();
  if (rshift_session_run(session) != RSHIFT_OK) return fail();

  if (rshift_session_output(session, 0, &output) != RSHIFT_OK) return fail();
  float* scores = malloc((output.elements + 1) * sizeof(float));
  if (scores == NULL) return fprintf(stderr, "error: out of memory\n"), 1;
  if (rshift_session_get_floats(session, 0, scores, output.elements, NULL) != RSHIFT_OK)
    return fail();
  for (size_t i = 0; i < output.elements; ++i) printf("%.9g\n", scores[i]);

  free(scores);
  free(values);
  rshift_session_free(session);
  rshift_program_free(program);
  return 0;
}
