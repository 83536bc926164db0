// Runs a program on one sample: embed_cpp net.rshift < input.f32, the first input's values as raw
// float32, in the order of the ONNX model. Prints the first output, one value per line.
#include <cstdio>
#include <rshift/rshift.hpp>
#include <vector>

int main(int argc, char** argv) try {
  if (argc != 2) return std::fprintf(stderr, "usage: %s net.rshift < input.f32\n", argv[0]), 2;
  const rshift::Program program = rshift::Program::Load(argv[1]);
  rshift::Session session(program);

  std::vector<float> values(program.Inputs().at(0).elements + 1);
  values.resize(std::fread(values.data(), sizeof(float), values.size(), stdin));
  session.Set(0, values);
  session.Run();
  for (const float score : session.Get(0)) std::printf("%.9g\n", score);
  return 0;
} catch (const std::exception& error) {
  return std::fprintf(stderr, "error: %s\n", error.what()), 1;
}
