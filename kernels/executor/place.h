// Where a kernel says a CUDA word that the executor checks: what a fault is blamed on.
#pragma once

#include <cstring>

namespace zerosim::kernels::executor {

struct Place {
  const char* word;  // __syncthreads
  const char* file;  // as the compiler was given it
  int line;
};

inline bool operator==(const Place& a, const Place& b) {
  // Texts are mostly one and the same literal.
  const auto same = [](const char* x, const char* y) { return x == y || std::strcmp(x, y) == 0; };
  return a.line == b.line && same(a.word, b.word) && same(a.file, b.file);
}

// The name of the file without its folders.
inline const char* FileName(const Place& place) {
  const char* const slash = std::strrchr(place.file, '/');
  return slash == nullptr ? place.file : slash + 1;
}

}  // namespace zerosim::kernels::executor

// The last parameters of a word, and the place that they make: default arguments are evaluated
// where a function is called, so that they say where the kernel says the word.
#define ZEROSIM_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define ZEROSIM_PLACE(word)             \
  ::zerosim::kernels::executor::Place { \
    word, file, line                    \
  }
