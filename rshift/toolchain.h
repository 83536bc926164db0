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

typedef struct rshift_calibrate_options {
  const char* model;      /* ONNX file, .tflite or OpenVINO's .xml; required */
  const char* dataset;    /* a folder, list, .npy, .npz or idx file; required */
  const char* preprocess; /* a file or a preset: how pixels become the input */
  const char* method;     /* threshold method, "kl" by default */
  const char* equalize;   /* "auto" by default, "off", or another table of the model */
  int64_t samples;        /* 100 by default; -1: all */
  uint64_t seed;          /* which of them */
  int threads;            /* as many as the CPU has by default */
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
} rshift_deploy_options;

/* The text of a calibration table; the caller frees it. */
RSHIFT_API rshift_status rshift_calibrate(const rshift_calibrate_options* options, char** table);
/* The content of a program file; the caller frees it. `warnings` (may be NULL): what is to be known
 * of the program, a line each; "" for nothing; the caller frees it. */
RSHIFT_API rshift_status rshift_deploy(const rshift_deploy_options* options, void** program,
                                       size_t* size, char** warnings);
/* What the functions above gave. NULL is allowed. */
RSHIFT_API void rshift_free(void* memory);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RSHIFT_TOOLCHAIN_H_ */
