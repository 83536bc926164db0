// What flatc makes of schema.fbs.
#ifndef RSHIFT_GRAPH_TFLITE_SCHEMA_H_
#define RSHIFT_GRAPH_TFLITE_SCHEMA_H_

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <schema_generated.h>
#pragma GCC diagnostic pop

#endif  // RSHIFT_GRAPH_TFLITE_SCHEMA_H_
