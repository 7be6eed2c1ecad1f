// Quantities that the models compute with: time, data, work, and their rates.
//
// A quantity is a plain value (trivially copyable, pass it by value). Its unit is written at
// both ends, by a named factory and by a named accessor, and never in between:
//
//   const Bytes shard = Bytes::Count(512'000'000);
//   const BytesPerSecond nic = BytesPerSecond::GigabitsPerSecond(400);
//   const Seconds transfer = shard / nic;
//   fmt::print("{:.3f} ms\n", transfer.milliseconds());
//
// Arithmetic that has no meaning (Bytes + Seconds, Seconds * Seconds, 0.5 * Bytes) does not
// compile; tests/compile_fail/ holds it to that. Prefixes are decimal, as on data sheets and in
// the reports of nccl-tests: 1 GB is 1e9 bytes. Binary prefixes exist only in text ("64 MiB").
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>

namespace zerosim {
namespace internal {

// What every quantity can do: add, scale, compare. Self is the quantity, Rep how it is stored.
template <typename Self, typename Rep>
class Quantity {
 public:
  friend constexpr Self operator+(Self a, Self b) { return Make(a.value_ + b.value_); }
  friend constexpr Self operator-(Self a, Self b) { return Make(a.value_ - b.value_); }
  friend constexpr Self& operator+=(Self& a, Self b) { return a = a + b; }
  friend constexpr Self& operator-=(Self& a, Self b) { return a = a - b; }
  friend constexpr bool operator==(Self a, Self b) { return a.value_ == b.value_; }
  friend constexpr auto operator<=>(Self a, Self b) { return a.value_ <=> b.value_; }

  // Scales by a number. A count of bytes scales by integers only: whoever wants half of it must
  // say how to round.
  template <typename K>
  requires std::integral<K> ||
      (std::floating_point<K>&& std::floating_point<Rep>)friend constexpr Self
      operator*(K k, Self a) {
    return Make(static_cast<Rep>(k) * a.value_);
  }

  // Two like quantities make a number.
  friend constexpr double Ratio(Self a, Self b) {
    return static_cast<double>(a.value_) / static_cast<double>(b.value_);
  }

 protected:
  static constexpr Self Make(Rep value) {
    Self q;
    q.value_ = value;
    return q;
  }
  Rep value_ = 0;
};

}  // namespace internal

// A span of simulated or measured time, or a point in simulated time.
class Seconds : public internal::Quantity<Seconds, double> {
 public:
  static constexpr Seconds Count(double s) { return Make(s); }
  static constexpr Seconds Millis(double ms) { return Make(ms * 1e-3); }
  static constexpr Seconds Micros(double us) { return Make(us * 1e-6); }
  constexpr double seconds() const { return value_; }
  constexpr double milliseconds() const { return value_ * 1e3; }
  constexpr double microseconds() const { return value_ * 1e6; }
};

// A count of bytes. An integer, so that the shards of a tensor add up to the tensor.
class Bytes : public internal::Quantity<Bytes, std::int64_t> {
 public:
  static constexpr Bytes Count(std::int64_t n) { return Make(n); }
  constexpr std::int64_t count() const { return value_; }
  constexpr double gigabytes() const { return static_cast<double>(value_) * 1e-9; }
};

// A data rate. Networks are sold in bits and memories in bytes, so both factories say which.
class BytesPerSecond : public internal::Quantity<BytesPerSecond, double> {
 public:
  static constexpr BytesPerSecond Count(double v) { return Make(v); }
  static constexpr BytesPerSecond GigabytesPerSecond(double v) { return Make(v * 1e9); }
  static constexpr BytesPerSecond GigabitsPerSecond(double v) { return Make(v * 0.125e9); }
  constexpr double bytes_per_second() const { return value_; }
  constexpr double gigabytes_per_second() const { return value_ * 1e-9; }
};

// Work: floating-point operations, a multiply-add counted as two.
class Flops : public internal::Quantity<Flops, double> {
 public:
  static constexpr Flops Count(double n) { return Make(n); }
  constexpr double count() const { return value_; }
  constexpr double teraflops() const { return value_ * 1e-12; }
};

class FlopsPerSecond : public internal::Quantity<FlopsPerSecond, double> {
 public:
  static constexpr FlopsPerSecond Count(double v) { return Make(v); }
  static constexpr FlopsPerSecond TeraflopsPerSecond(double v) { return Make(v * 1e12); }
  constexpr double flops_per_second() const { return value_; }
  constexpr double teraflops_per_second() const { return value_ * 1e-12; }
};

constexpr Seconds operator/(Bytes size, BytesPerSecond rate) {
  return Seconds::Count(static_cast<double>(size.count()) / rate.bytes_per_second());
}
constexpr BytesPerSecond operator/(Bytes size, Seconds time) {
  return BytesPerSecond::Count(static_cast<double>(size.count()) / time.seconds());
}
constexpr Seconds operator/(Flops work, FlopsPerSecond rate) {
  return Seconds::Count(work.count() / rate.flops_per_second());
}
constexpr FlopsPerSecond operator/(Flops work, Seconds time) {
  return FlopsPerSecond::Count(work.count() / time.seconds());
}

// The least integer k with k * b >= a, for a >= 0 and b > 0. The one way to round bytes and counts
// up.
constexpr std::int64_t CeilDiv(std::int64_t a, std::int64_t b) {
  return a / b + (a % b != 0);
}

}  // namespace zerosim
