// Enumerators as they are written in traces and dumps.
#pragma once

#include "models/program/step_program.h"

namespace zerosim {

constexpr const char* NameOf(Stream stream) {
  switch (stream) {
    case Stream::kHost:
      return "host";
    case Stream::kCompute:
      return "compute";
    case Stream::kGather:
      return "gather";
    case Stream::kReduce:
      return "reduce";
    case Stream::kSend:
      return "send";
  }
  return "";
}

// As the keys of memory.terms in a result.
constexpr const char* NameOf(MemoryTerm term) {
  switch (term) {
    case MemoryTerm::kParameters:
      return "parameters";
    case MemoryTerm::kGradients:
      return "gradients";
    case MemoryTerm::kOptimizer:
      return "optimizer";
    case MemoryTerm::kSecondaryShard:
      return "secondary_shard";
    case MemoryTerm::kLiveParameters:
      return "live_parameters";
    case MemoryTerm::kBuffers:
      return "buffers";
    case MemoryTerm::kActivations:
      return "activations";
    case MemoryTerm::kLogits:
      return "logits";
    case MemoryTerm::kContext:
      return "context";
  }
  return "";
}

constexpr int kMemoryTermCount = static_cast<int>(MemoryTerm::kContext) + 1;

}  // namespace zerosim
