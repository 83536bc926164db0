// Rshift's runtime from C++17, over the C interface (rshift/rshift.h), whose rules for lifetime,
// threads and order of elements hold here too:
//
//   rshift::Program program = rshift::Program::Load("net.rshift");
//   rshift::Session session(program);
//   session.Set(0, image);                        // std::vector<float>
//   session.Run();
//   std::vector<float> scores = session.Get(0);
//
// Whatever fails throws rshift::Error. A Program and a Session move, and a Session keeps its
// program. No exception and no C++ type crosses the border of the library, so that it and its user
// may be built by different compilers.
#ifndef RSHIFT_RSHIFT_HPP_
#define RSHIFT_RSHIFT_HPP_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "rshift/preprocess.h"
#include "rshift/rshift.h"

namespace rshift {
inline namespace api0 {  // its names are not those of the library's inside

class Error : public std::runtime_error {
 public:
  explicit Error(rshift_status status)
      : std::runtime_error(rshift_error_text()), status_(status) {}
  rshift_status status() const noexcept { return status_; }

 private:
  rshift_status status_;
};

inline void Check(rshift_status status) {
  if (status != RSHIFT_OK) throw Error(status);
}

struct Tensor {
  std::string name;
  rshift_type type = RSHIFT_F32;
  std::vector<std::int64_t> shape;
  std::size_t elements = 0, bytes = 0;
  bool quantized = false;  // real = scale * (integer - zero_point)
  float scale = 0;
  std::int32_t zero_point = 0;
};

inline Tensor MakeTensor(const rshift_tensor& t) {
  return {t.name,  t.type,           {t.shape, t.shape + t.rank}, t.elements,
          t.bytes, t.quantized != 0, t.scale,                     t.zero_point};
}

class Program {
 public:
  // `limits`: what a run may take, as "seconds=600,arena=64G" or "none"; "" for the defaults.
  static Program Load(const std::string& path, const std::string& limits = "") {
    rshift_program* program = nullptr;
    Check(rshift_program_load(path.c_str(), limits.c_str(), &program));
    return Program(program);
  }
  // Copies the bytes.
  static Program FromMemory(const void* bytes, std::size_t size, const std::string& limits = "") {
    rshift_program* program = nullptr;
    Check(rshift_program_from_memory(bytes, size, limits.c_str(), &program));
    return Program(program);
  }

  std::vector<Tensor> Inputs() const {
    std::vector<Tensor> all;
    for (std::size_t i = 0; i < rshift_program_inputs(get()); ++i) {
      rshift_tensor tensor;
      Check(rshift_program_input(get(), i, &tensor));
      all.push_back(MakeTensor(tensor));
    }
    return all;
  }
  std::vector<Tensor> Outputs() const {
    std::vector<Tensor> all;
    for (std::size_t i = 0; i < rshift_program_outputs(get()); ++i) {
      rshift_tensor tensor;
      Check(rshift_program_output(get(), i, &tensor));
      all.push_back(MakeTensor(tensor));
    }
    return all;
  }
  // What was recorded when the program was made; "" where there is none of that name.
  std::string Metadata(const std::string& key) const {
    const char* text = rshift_program_metadata(get(), key.c_str());
    return text == nullptr ? "" : text;
  }
  const rshift_program* get() const { return program_.get(); }

 private:
  struct Free {
    void operator()(rshift_program* program) const { rshift_program_free(program); }
  };
  explicit Program(rshift_program* program) : program_(program) {}

  std::unique_ptr<rshift_program, Free> program_;
};

class Session {
 public:
  // `threads`: at most; 0: as many as the CPU has.
  explicit Session(const Program& program, int threads = 0) {
    rshift_session* session = nullptr;
    Check(rshift_session_open(program.get(), threads, &session));
    session_.reset(session);
  }

  // Every input is to be set before each run.
  void Set(std::size_t input, const std::vector<float>& values) {
    Check(rshift_session_set_floats(session_.get(), input, values.data(), values.size()));
  }
  // The elements as they are, in the input's type.
  void SetBytes(std::size_t input, const void* bytes, std::size_t size) {
    Check(rshift_session_set_bytes(session_.get(), input, bytes, size));
  }
  // Raw pixels, prepared as the program has recorded it (rshift/preprocess.h); one for each of the
  // batch.
  void SetPictures(std::size_t input, const std::vector<rshift_picture>& pictures) {
    Check(rshift_session_set_pictures(session_.get(), input, pictures.data(), pictures.size()));
  }
  void Run() { Check(rshift_session_run(session_.get())); }
  // With the size that the output had in the last run.
  Tensor Output(std::size_t output) const {
    rshift_tensor tensor;
    Check(rshift_session_output(session_.get(), output, &tensor));
    return MakeTensor(tensor);
  }
  // Real values, whatever the type.
  std::vector<float> Get(std::size_t output) const {
    std::vector<float> values(Output(output).elements);
    Check(rshift_session_get_floats(session_.get(), output, values.data(), values.size(), nullptr));
    return values;
  }
  std::vector<std::uint8_t> GetBytes(std::size_t output) const {
    std::vector<std::uint8_t> bytes(Output(output).bytes);
    Check(rshift_session_get_bytes(session_.get(), output, bytes.data(), bytes.size(), nullptr));
    return bytes;
  }

 private:
  struct Free {
    void operator()(rshift_session* session) const { rshift_session_free(session); }
  };
  std::unique_ptr<rshift_session, Free> session_;
};

}  // namespace api0
}  // namespace rshift

#endif  // RSHIFT_RSHIFT_HPP_
