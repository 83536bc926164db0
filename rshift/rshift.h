/* Rshift's runtime from C: load a .rshift program, look at its inputs and outputs, run it.
 *
 *   rshift_program* program;
 *   rshift_session* session;
 *   if (rshift_program_load("net.rshift", NULL, &program) != RSHIFT_OK) return fail();
 *   if (rshift_session_open(program, 1, &session) != RSHIFT_OK) return fail();
 *   rshift_session_set_floats(session, 0, image, image_count);
 *   rshift_session_run(session);
 *   rshift_session_get_floats(session, 0, scores, score_count, NULL);
 *
 * Errors. Every function that can fail returns a status and throws nothing; rshift_error_text()
 * then has one line that says what, where, what was expected, what was found and how to mend it.
 * Where a function fails, what it would have written is left as it was.
 *
 * Threads. A program is read only: any number of threads may use it, each with a session of its
 * own. A session serves one call at a time. The error text belongs to the thread whose call failed.
 *
 * Lifetime. A session keeps its program: they may be freed in any order. Names and shapes of a
 * rshift_tensor live as long as the program or session that was asked.
 *
 * Order. Elements are in the order of the ONNX model (images: batch, channels, rows, columns).
 *
 * Same bytes for every number of threads and every instruction set. docs/embedding.md. */
#ifndef RSHIFT_RSHIFT_H_
#define RSHIFT_RSHIFT_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define RSHIFT_API __attribute__((visibility("default")))
#else
#define RSHIFT_API
#endif

typedef enum rshift_status {
  RSHIFT_OK = 0,
  RSHIFT_INVALID_INPUT = 1, /* an argument or a value of the caller is wrong */
  RSHIFT_UNSUPPORTED = 2,   /* well formed, but not something this library, CPU or limit allows */
  RSHIFT_IO = 3,            /* the operating system refused */
  RSHIFT_CORRUPT = 4,       /* the program file fails its checks */
  RSHIFT_INTERNAL = 5,      /* a bug in Rshift; the text says so */
  RSHIFT_OUT_OF_MEMORY = 6,
  RSHIFT_INTERRUPTED = 7 /* the caller's progress function wanted it (rshift/toolchain.h) */
} rshift_status;

/* The numbers are those of the file format; what a program may have as input or output. */
typedef enum rshift_type {
  RSHIFT_F32 = 1,
  RSHIFT_F16 = 2,
  RSHIFT_S8 = 3,
  RSHIFT_U8 = 4,
  RSHIFT_S16 = 5,
  RSHIFT_S32 = 6,
  RSHIFT_S64 = 7,
  RSHIFT_BOOL = 8, /* one byte, 0 or 1 */
  RSHIFT_U16 = 11,
  /* Of outputs alone, those that are constants: */
  RSHIFT_F64 = 9,
  RSHIFT_U32 = 12,
  RSHIFT_U64 = 13
} rshift_type;

typedef struct rshift_program rshift_program;
typedef struct rshift_session rshift_session;

typedef struct rshift_tensor {
  const char* name;
  rshift_type type;
  size_t rank;
  const int64_t* shape; /* `rank` of them, in ONNX order */
  size_t elements;
  size_t bytes;
  int quantized; /* 1: real = scale * (integer - zero_point); 0: scale and zero_point mean nothing
                  */
  float scale;
  int32_t zero_point;
} rshift_tensor;

/* "rshift 0.1.0". */
RSHIFT_API const char* rshift_version(void);
/* 1 where F32 convolutions and matrix products are there (library rshift_float), else 0. */
RSHIFT_API int rshift_has_float(void);
/* What the last call of this thread that failed had to say; "" when none has. Valid until the next
 * call of this thread that fails. */
RSHIFT_API const char* rshift_error_text(void);

/* Maps the file, proves that it may run, checks its sums. `limits`: what one run may take, as
 * "seconds=600,arena=64G" or "none"; NULL for the defaults (about a minute, 16 GB). Nobody may
 * shorten the file while the program lives. */
RSHIFT_API rshift_status rshift_program_load(const char* path, const char* limits,
                                             rshift_program** program);
/* The same of a file's content, which is copied. */
RSHIFT_API rshift_status rshift_program_from_memory(const void* bytes, size_t size,
                                                    const char* limits, rshift_program** program);
/* NULL is allowed. */
RSHIFT_API void rshift_program_free(rshift_program* program);

RSHIFT_API size_t rshift_program_inputs(const rshift_program* program);
RSHIFT_API size_t rshift_program_outputs(const rshift_program* program);
RSHIFT_API rshift_status rshift_program_input(const rshift_program* program, size_t index,
                                              rshift_tensor* tensor);
/* Of an output whose size depends on the data: the most that it can be. */
RSHIFT_API rshift_status rshift_program_output(const rshift_program* program, size_t index,
                                               rshift_tensor* tensor);
/* A text that was recorded when the program was made ("model", "mode", "preprocess", ...); NULL
 * where there is none of that name. Lives as long as the program. */
RSHIFT_API const char* rshift_program_metadata(const rshift_program* program, const char* key);

/* Memory for tensors, kernels chosen for this CPU. `threads`: at most; 0: OMP_NUM_THREADS, else as
 * many as the CPU has. */
RSHIFT_API rshift_status rshift_session_open(const rshift_program* program, int threads,
                                             rshift_session** session);
/* NULL is allowed. */
RSHIFT_API void rshift_session_free(rshift_session* session);

/* Every input is to be set before each run: a run may write over it. */
/* The elements as they are, in the input's type; `size` in bytes must be the input's. */
RSHIFT_API rshift_status rshift_session_set_bytes(rshift_session* session, size_t input,
                                                  const void* bytes, size_t size);
/* Real values. A quantized input takes the nearest integer of its scale, saturated; another integer
 * input takes the values that it holds exactly, others are refused, as NaN is. */
RSHIFT_API rshift_status rshift_session_set_floats(rshift_session* session, size_t input,
                                                   const float* values, size_t count);

/* The input's own memory, which set_bytes would fill: `*size` bytes to write before a run, by
 * nobody during one. Lives as long as the session. RSHIFT_UNSUPPORTED for a bool, whose bytes
 * set_bytes checks. */
RSHIFT_API rshift_status rshift_session_input_memory(rshift_session* session, size_t input,
                                                     void** memory, size_t* size);

/* RSHIFT_INVALID_INPUT where the data have no answer: a computed index outside of its axis. */
RSHIFT_API rshift_status rshift_session_run(rshift_session* session);

/* An output of the last run, with the size that it had. The shape is valid until the next run. */
RSHIFT_API rshift_status rshift_session_output(rshift_session* session, size_t output,
                                               rshift_tensor* tensor);
/* Copies an output into a buffer with room for `room` bytes (floats); says in `*count` how many
 * were written (may be NULL). Too little room is refused. Floats are real values, whatever the
 * type. */
RSHIFT_API rshift_status rshift_session_get_bytes(rshift_session* session, size_t output,
                                                  void* bytes, size_t room, size_t* count);
RSHIFT_API rshift_status rshift_session_get_floats(rshift_session* session, size_t output,
                                                   float* values, size_t room, size_t* count);

/* The output's own memory, valid until the next run and as long as the session.
 * RSHIFT_UNSUPPORTED where it is not what get_bytes gives: another order of elements, or a part. */
RSHIFT_API rshift_status rshift_session_output_memory(rshift_session* session, size_t output,
                                                      const void** memory, size_t* size);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RSHIFT_RSHIFT_H_ */
