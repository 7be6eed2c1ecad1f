// Published measurements of ZeRO-3 and ZeRO++ on DGX-2 nodes, and how near predictions must come.
// README.md states the same tolerances.
#pragma once

namespace zerosim {

inline constexpr double kTimeTolerance = 0.05;    // step, forward, backward, throughput, ratio
inline constexpr double kMemoryTolerance = 0.03;  // bytes allocated

// Logs of the DeepSpeed tutorial on ZeRO++ (docs/_tutorials/zeropp.md and the images
// docs/assets/images/zeropp/ZeRO-baseline.png and ZeROpp.png at commit edaa722): 18B, 4 nodes of 16
// V100, sequence 512, iteration 40.
struct TutorialLog {
  const char* scenario;
  double step_s;
  double forward_s;
  double backward_s;
  double hardware_tflops_per_gpu;  // four passes
  double peak_MiB;                 // "max allocated"
  double after_step_MiB;           // "allocated" after the optimizer
};
inline constexpr TutorialLog kTutorialLogs[] = {
    {"zero3_tutorial_64", 9.9559, 3.3562, 6.4586, 7.65, 8284.73, 4421.16},
    {"zeropp_tutorial_64", 3.6806, 1.7946, 1.7420, 20.70, 10258.17, 4459.5},
};

// The ZeRO++ paper's figure of 18B on 384 V100 with one 100 Gb/s link a node and 1K tokens a GPU
// (arXiv 2306.10209; values read off the chart, +-0.1), TFLOP/s a GPU by the four-pass count.
struct HeadlinePoint {
  const char* scenario;
  double hardware_tflops_per_gpu;
};
inline constexpr HeadlinePoint kHeadlineZero3{"zero3_dgx2_384", 14.19};
inline constexpr HeadlinePoint kHeadlineZeroPp{"zeropp_dgx2_384", 30.59};

// The same with four links a node. Not met: the prediction is stated, with its interval.
inline constexpr HeadlinePoint kFourLinksZero3{"zero3_dgx2_384", 24.79};
inline constexpr HeadlinePoint kFourLinksZeroPp{"zeropp_dgx2_384", 35.21};

}  // namespace zerosim
