// What it costs to run a kernel on the host.
#include <vector>

#include <benchmark/benchmark.h>

#include "kernels/executor/launch.h"
#include "kernels/portable.cuh"

namespace zerosim::kernels {
namespace {

constexpr int kGroup = 256;

// INT8, symmetric: a warp a group, eight elements a lane.
__global__ void __launch_bounds__(256)
    QuantizeGroups(const __half* __restrict__ in, signed char* __restrict__ codes,
                   float* __restrict__ scales) {
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long group = thread / 32;
  __half elements[8];
  const uint4 loaded = __ldcs(reinterpret_cast<const uint4*>(in) + thread);
  memcpy(static_cast<void*>(elements), &loaded, sizeof(elements));
  float greatest = 0;
  for (const __half x : elements) greatest = fmaxf(greatest, fabsf(__half2float(x)));
  for (int offset = 16; offset > 0; offset /= 2) {
    greatest = fmaxf(greatest, __shfl_xor_sync(0xffffffffu, greatest, offset));
  }
  const float inverse = greatest > 0 ? __fdiv_rn(127, greatest) : 0;
  signed char rounded[8];
  for (int i = 0; i < 8; ++i) {
    const int code = __float2int_rn(__fmul_rn(__half2float(elements[i]), inverse));
    rounded[i] = static_cast<signed char>(min(max(code, -127), 127));
  }
  uint2 stored;
  memcpy(&stored, rounded, sizeof(stored));
  __stcs(reinterpret_cast<uint2*>(codes) + thread, stored);
  if (thread % 32 == 0) scales[group] = __fdiv_rn(greatest, 127);
}

void QuantizeOnTheHost(benchmark::State& state) {
  const std::size_t size = std::size_t{1} << 20;
  std::vector<__half> in(size);
  for (std::size_t i = 0; i < size; ++i) {
    in[i] = __float2half_rn(static_cast<float>(i * 2654435761u % 2001) - 1000);
  }
  std::vector<signed char> codes(size);
  std::vector<float> scales(size / kGroup);
  executor::LaunchOptions options;
  options.order = static_cast<executor::Order>(state.range(0));
  std::uint64_t switches = 0;
  for (auto _ : state) {
    switches += executor::Launch(options, static_cast<unsigned>(size / 2048), 256, 0,
                                 QuantizeGroups, in.data(), codes.data(), scales.data())
                    .counts.switches;
  }
  const auto elements = static_cast<double>(state.iterations()) * static_cast<double>(size);
  state.counters["elements"] = benchmark::Counter(elements, benchmark::Counter::kIsRate);
  state.counters["switches"] =
      benchmark::Counter(static_cast<double>(switches), benchmark::Counter::kIsRate);
}
BENCHMARK(QuantizeOnTheHost)->Arg(0)->Arg(1)->Arg(2)->ArgName("order");

}  // namespace
}  // namespace zerosim::kernels
