// Checks of our own assumptions, on in every build.
//
//   ZEROSIM_CHECK(end >= start, "rank {}, block {}", rank, block);
//
// A failed check prints file, line, the expression and the message to stderr and aborts: it is a
// fault of this program. What a user wrote is never checked with it (see diagnostics.h), nor is an
// argument of a public function (std::invalid_argument).
#pragma once

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#define ZEROSIM_CHECK(condition, ...)                                                        \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      ::fmt::print(stderr, "{}:{}: check failed: {} ({})\n", __FILE__, __LINE__, #condition, \
                   ::fmt::format(__VA_ARGS__));                                              \
      ::std::abort();                                                                        \
    }                                                                                        \
  } while (false)
