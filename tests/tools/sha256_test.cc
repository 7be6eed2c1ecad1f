#include "tools/zerosim/sha256.h"

#include <gtest/gtest.h>

namespace zerosim {
namespace {

// Examples of FIPS 180-2, appendix B.1, and of the empty message.
TEST(Sha256Hex, GivesTheDigestsOfTheStandard) {
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

}  // namespace
}  // namespace zerosim
