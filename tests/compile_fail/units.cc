// Compiled once for each WRONG below, which must fail, and once without, which must not.
#include "models/core/units.h"

using zerosim::Bytes;
using zerosim::BytesPerSecond;
using zerosim::Seconds;

constexpr Bytes kSize = Bytes::Count(8);
constexpr Seconds kTime = Seconds::Count(2);
constexpr BytesPerSecond kRate = kSize / kTime;
static_assert(kSize / kRate == kTime);
static_assert(3 * kSize == Bytes::Count(24));

#if WRONG == 1
constexpr auto kNonsense = kSize + kTime;  // a sum of unlike quantities
#elif WRONG == 2
constexpr auto kHalf = 0.5 * kSize;  // a fraction of a byte
#elif WRONG == 3
constexpr Seconds kBare = 5.0;  // a number without a unit
#elif WRONG == 4
constexpr bool kFaster = kRate > 400e9;  // a comparison with a bare number
#elif WRONG == 5
constexpr auto kSquare = kTime * kTime;  // a square of time
#elif WRONG == 6
constexpr Seconds kSwapped = kRate / kSize;  // a rate over a size
#endif
