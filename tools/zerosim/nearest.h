#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace zerosim {

// `word` in lower case, without '-', '_' and spaces: how names are compared.
std::string Folded(std::string_view word);

// Up to `most` names of `known` that `word` may have been meant as, the nearest first: Nearest() of
// models/scenario/keys.h, again and again, on folded names.
std::vector<std::string> NearestNames(std::string_view word, const std::vector<std::string>& known,
                                      int most = 3);

}  // namespace zerosim
