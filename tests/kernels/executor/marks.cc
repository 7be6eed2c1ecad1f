#include "tests/kernels/executor/marks.h"

#include <fstream>

#include <gtest/gtest.h>

namespace zerosim::kernels {

std::string PlaceOf(const std::string& file, const std::string& mark) {
  std::ifstream in(std::string(ZEROSIM_SOURCE_DIR "/tests/kernels/executor/") + file);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.find("// <" + mark + ">") != std::string::npos) {
      return file + ":" + std::to_string(number);
    }
  }
  ADD_FAILURE() << "no mark <" << mark << "> in " << file;
  return "";
}

}  // namespace zerosim::kernels
