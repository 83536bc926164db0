/* Rshift's toolchain from C: measure a trained network (rshift_calibrate), make a program of it
 * (rshift_deploy), in memory. Static library rshift_toolchain, which has the runtime with F32
 * kernels too:
 *
 *   rshift_calibrate_options measure = {.model = "net.onnx", .dataset = "photos/", .preprocess =
 * "torch-imagenet"}; if (rshift_calibrate(&measure, &table) != RSHIFT_OK) return fail();
 *   rshift_deploy_options make = {.model = "net.onnx", .table = table, .mode = "asymmetric"};
 *   if (rshift_deploy(&make, &bytes, &size, NULL) != RSHIFT_OK) return fail();
 *   rshift_program_from_memory(bytes, size, NULL, &program);
 *
 * A field that is 0 or NULL has its default: zero the struct, then fill it. Texts are those of the
 * options of model_calibrate and model_deploy (their man pages). The same bytes for the same
 * options, whatever the threads. Errors as in rshift.h. Any number of threads may call at once.
 * Nothing is printed. */
#ifndef RSHIFT_TOOLCHAIN_H_
#define RSHIFT_TOOLCHAIN_H_

#include "rshift/rshift.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rshift_bytes {
  const void* data;
  size_t size;
} rshift_bytes;

/* The shape of an input whose model leaves dimensions open. */
typedef struct rshift_input_shape {
  const char* input;
  size_t rank;
  const int64_t* shape;
} rshift_input_shape;

/* RSHIFT_F32, RSHIFT_U8, RSHIFT_S8 or, of what has 16 bits, RSHIFT_S16. */
typedef struct rshift_element_type {
  const char* tensor; /* an input's or output's name; NULL: all that are not named */
  rshift_type type;
} rshift_element_type;

/* One sample in memory, as the model takes it: `elements[i]` floats for its input i, in ONNX order.
 */
typedef struct rshift_sample {
  const char* name; /* in messages; NULL: its number */
  size_t inputs;
  const float* const* values;
  const size_t* elements;
} rshift_sample;

/* Called while a function works: `done` of `total` steps; by one thread at a time, which need not
 * be the caller's. What is not 0 ends the function with RSHIFT_INTERRUPTED. */
typedef int (*rshift_progress)(void* user, const char* title, int64_t done, int64_t total);

/* The samples are those of a data set, samples in memory, or what rshift_collect has measured: one
 * of the three. */
typedef struct rshift_calibrate_options {
  const char* model;   /* ONNX file, .tflite or OpenVINO's .xml; required unless model_bytes is */
  const char* dataset; /* a folder, list, .npy, .npz or idx file */
  const char* preprocess; /* a file or a preset: how pixels become the input */
  const char* method;     /* threshold method, "kl" by default, or "auto" */
  const char* equalize;   /* "auto" by default, "weights", "off", or another table of the
                           * model */
  int64_t samples;        /* 100 by default; -1: all */
  uint64_t seed;          /* which of them */
  int threads;            /* OMP_NUM_THREADS by default, else as many as the CPU has */

  rshift_bytes model_bytes; /* the content of the file in place of it */
  const rshift_input_shape* input_shapes;
  size_t input_shapes_count;
  const rshift_sample* data;
  size_t data_count;
  const char* shard;              /* "I/N": every N-th of the chosen samples from I */
  const rshift_bytes* statistics; /* of rshift_collect or rshift_merge; merged */
  size_t statistics_count;
  int partial; /* 1: shards of them may be missing */
  rshift_progress progress;
  void* user;   /* the first argument of `progress` */
  int portable; /* 1: float runs with the same bytes on every CPU type */
} rshift_calibrate_options;

typedef struct rshift_deploy_options {
  const char* model; /* required */
  const char* table; /* the text of a calibration table; none for mode "f32" and quantized models */
  const char* mode;  /* "symmetric" (default), "asymmetric" or "f32" */
  const char* profile;    /* whose integer arithmetic, "tpu" by default */
  const char* config;     /* a file with overrides for layers */
  const char* target;     /* a file that says what the chip can do */
  const char* preprocess; /* carried into the program; the table's by default */
  int no_check;           /* 1: the samples of the table are not run through both programs */
  int threads;            /* of the check; 1 by default */

  rshift_bytes model_bytes; /* the content of the file in place of `model` */
  const rshift_input_shape* input_shapes;
  size_t input_shapes_count;
  const char* scales; /* a file with another tool's scales, in place of the table or before it */
  const rshift_element_type* input_types; /* what the program takes; F32 by default */
  size_t input_types_count;
  const rshift_element_type* output_types; /* what it gives; F32 by default */
  size_t output_types_count;
  const rshift_sample* test_data; /* compares every tensor of float and integer program on these */
  size_t test_data_count;
  int emit_qdq; /* 1: fills rshift_deployment's `qdq` */
  rshift_progress progress;
  void* user; /* the first argument of `progress` */
  /* "auto" (default: as "fast", where it brings the outputs 1 dB), "off", "fast", "full" or
     "regression" */
  const char* bias_correction;
  int activation_bits; /* 16: of every result that can have them; 0 and 8: 8 bits */
  int residual_bits;   /* 16: of sums of two activations and what they add; 0 and 8: 8 bits */
  /* 1: symmetric results of functions that reach little below zero stay signed (docs/accuracy.md)
   */
  int no_shift_negative;
  /* "auto" (default: as "gptq", where it brings the outputs 1 dB), "nearest" or "gptq", on the
     table's samples */
  const char* weight_rounding;
  const char* weight_clipping; /* "off" (default) or "mse", likewise */
  /* 4: weights of 1x1 convolutions and matrix products but the first and last; 0 and 8: 8 bits */
  int weight_bits;
  int automatic; /* 1: searches for what makes the program good enough (docs/auto.md) */
  /* of that: "cosine=0.999", "top1=99", "boxes=0.95", "float-layers=2", "time=40evaluations", or
   * several of them with commas between */
  const char* budget;
  const char* equalize; /* of the table's equalization: "auto" (default), "table", "all" or "off" */
} rshift_deploy_options;

/* What rshift_deploy_all gives; a text ends with a 0 that its size does not count. */
typedef struct rshift_deployment {
  rshift_bytes program;     /* the content of a program file */
  rshift_bytes warnings;    /* what is to be known of it, a line each */
  rshift_bytes report_text; /* what model_deploy prints */
  rshift_bytes report_json; /* --report-json */
  rshift_bytes report_html; /* --report */
  rshift_bytes qdq;         /* --emit-qdq: an ONNX file */
  rshift_bytes auto_config; /* --auto-config: the types that the search chose, for `config` */
} rshift_deployment;

/* How close `a`, which is under test, is to `b`. */
typedef struct rshift_similarity {
  int equal;      /* 1: every element is the same */
  int has_nan;    /* 1: on either side; the figures below are then NaN */
  double cosine;  /* 1 when both are all zero, 0 when one is */
  double euclid;  /* 1 - |a-b| / |(a+b)/2|; 1 when both are all zero */
  double sqnr_db; /* 10 log10(sum b^2 / sum (a-b)^2); 200 at most */
  double max_abs; /* max |a-b| */
} rshift_similarity;

/* The text of a calibration table; the caller frees it. */
RSHIFT_API rshift_status rshift_calibrate(const rshift_calibrate_options* options, char** table);
/* The content of a program file; the caller frees it. `warnings` (may be NULL): what is to be known
 * of the program, a line each; "" for nothing; the caller frees it. */
RSHIFT_API rshift_status rshift_deploy(const rshift_deploy_options* options, void** program,
                                       size_t* size, char** warnings);
/* The same with reports. rshift_deployment_free frees it. */
RSHIFT_API rshift_status rshift_deploy_all(const rshift_deploy_options* options,
                                           rshift_deployment* deployment);
RSHIFT_API void rshift_deployment_free(rshift_deployment* deployment);

/* The statistics that a table is derived from: of one machine of several (`shard`), or to be kept.
 * The caller frees them. */
RSHIFT_API rshift_status rshift_collect(const rshift_calibrate_options* options, void** statistics,
                                        size_t* size);
/* As if the samples of all of them had been measured in one run. The caller frees it. */
RSHIFT_API rshift_status rshift_merge(const rshift_bytes* statistics, size_t count, void** merged,
                                      size_t* size);

/* The samples of a data set as a program takes them, by the preprocessing that it has recorded:
 * what model_runner feeds. `preprocess`: another file or preset; NULL: the recorded one. */
typedef struct rshift_samples rshift_samples;
RSHIFT_API rshift_status rshift_samples_open(const rshift_program* program, const char* dataset,
                                             const char* preprocess, rshift_samples** samples);
/* NULL is allowed. */
RSHIFT_API void rshift_samples_free(rshift_samples* samples);
RSHIFT_API size_t rshift_samples_count(const rshift_samples* samples);
/* One sample: for each of the program's inputs its elements, of which an integer input's are the
 * integers themselves; `room[i]` floats fit into `values[i]`. Any number of threads at once. */
RSHIFT_API rshift_status rshift_samples_read(const rshift_samples* samples, size_t index,
                                             float* const* values, const size_t* room,
                                             size_t inputs);

RSHIFT_API rshift_status rshift_compare(const float* a, const float* b, size_t count,
                                        rshift_similarity* similarity);
/* What the functions above gave by a pointer to a pointer. NULL is allowed. */
RSHIFT_API void rshift_free(void* memory);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RSHIFT_TOOLCHAIN_H_ */
