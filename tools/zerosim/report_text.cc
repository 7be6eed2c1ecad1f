#include "tools/zerosim/report_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/core/units_text.h"

namespace zerosim {
namespace {

constexpr int kBarColumns = 40;

// A rate without its unit, which stands once below the table.
std::string GigabytesPerSecond(BytesPerSecond rate) {
  return fmt::format("{:.2f}", rate.gigabytes_per_second());
}

// A count with commas: 1,234,567.
std::string Grouped(double count) {
  std::string digits = fmt::format("{:.0f}", count);
  const std::size_t first = digits.starts_with('-') ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string Parameters(std::int64_t count) {
  if (count >= 1'000'000'000) {
    return fmt::format("{:.2f} billion parameters", static_cast<double>(count) * 1e-9);
  }
  return fmt::format("{:.1f} million parameters", static_cast<double>(count) * 1e-6);
}

double Share(Seconds part, Seconds whole) {
  return whole.seconds() > 0 ? Ratio(part, whole) : 0;
}

// A bar after two spaces, or nothing: no line ends in a space.
std::string Bar(double share) {
  const double cells = std::clamp(share, 0.0, 1.0) * kBarColumns;
  const auto length = static_cast<std::size_t>(std::lround(cells));
  return length == 0 ? "" : "  " + std::string(length, '#');
}

// Appends lines; each section begins with an empty one and a heading.
class Lines {
 public:
  void Heading(std::string_view text) { Add("\n{}\n", text); }

  template <typename... Args>
  void Add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

void AddSummary(const StepReport& r, Lines& out) {
  out.Add("{}\n", r.scenario);
  out.Add("  {} GPU{}, {}, {} engine\n", Grouped(r.world_size), r.world_size == 1 ? "" : "s",
          Parameters(r.parameters), r.engine);

  out.Heading("Step");
  out.Add("  {:<20}{}, between {} and {}\n", "time", FormatSeconds(r.step),
          FormatSeconds(r.step_low), FormatSeconds(r.step_high));
  out.Add("  {:<20}{:.1f} TFLOP/s a GPU, MFU {:.1f} %\n", "model FLOP/s", r.tflops_per_gpu,
          100 * r.mfu);
  out.Add("  {:<20}{:.1f} TFLOP/s a GPU, recomputation counted\n", "hardware FLOP/s",
          r.hardware_tflops_per_gpu);
  out.Add("  {:<20}{} tokens/s, {} a GPU; {:.2f} samples/s\n", "throughput",
          Grouped(r.tokens_per_s), Grouped(r.tokens_per_s_per_gpu), r.samples_per_s);
}

void AddTime(const StepReport& r, Lines& out) {
  const auto line = [&](std::string_view name, Seconds time) {
    out.Add("  {:<28}{:>10}{:>8.1f} %\n", name, FormatSeconds(time), 100 * Share(time, r.step));
  };
  out.Heading("Time, and its share of the step");
  line("forward", r.forward);
  line("backward", r.backward);
  line("optimizer", r.optimizer);
  if (r.bubble > Seconds()) line("pipeline bubble", r.bubble);
  out.Add("  busy, which overlaps:\n");
  line("  compute", r.compute);
  line("  quantization and copies", r.quantization);
  line("  communication", r.communication);
  line("  exposed communication", r.exposed_communication);
  if (r.kernel_slowdown > Seconds()) line("  kernels slowed by it", r.kernel_slowdown);

  if (r.critical_path.empty()) return;
  out.Heading("Critical path: what the step waits for");
  for (const CriticalShare& share : r.critical_path) {
    const double part = Share(share.time, r.step);
    out.Add("  {:<25}{:>9}{:>7.1f} %{}\n", share.cause, FormatSeconds(share.time), 100 * part,
            Bar(part));
  }
}

void AddExceptions(const StepReport& r, Lines& out) {
  if (!r.exceptions) return;
  const ExceptionsReport& e = *r.exceptions;
  const auto line = [&](std::string_view name, const OtherStep& other) {
    out.Add("  {:<28}{:>10}{:>+8.1f} %{:>14} tokens/s\n", name, FormatSeconds(other.step),
            100 * (Ratio(other.step, r.step) - 1), Grouped(other.tokens_per_s));
  };
  out.Heading(fmt::format("{} node{} not as the others: the step if", e.nodes,
                          e.nodes == 1 ? " is" : "s are"));
  line("all were sound", e.sound);
  for (std::size_t i = 0; i < e.without_item.size(); ++i) {
    line(fmt::format("those of exceptions[{}] were", i), e.without_item[i]);
  }
  if (e.without) {
    line("they were left out", *e.without);
  } else {
    out.Add("  they were left out          not possible: the others do not divide as asked\n");
  }
}

void AddJitter(const StepReport& r, Lines& out) {
  if (!r.jitter) return;
  const JitterReport& j = *r.jitter;
  const auto line = [&](std::string_view name, std::string_view kernels, const OtherStep& other) {
    out.Add("  {:<20}{:>9}{:>9}{:>+8.1f} %{:>14} tokens/s\n", name, kernels,
            FormatSeconds(other.step), 100 * (Ratio(other.step, r.step) - 1),
            Grouped(other.tokens_per_s));
  };
  out.Heading(fmt::format("Step over {} step{} with jitter of {} %", Grouped(j.steps),
                          j.steps == 1 ? "" : "s", FormatNumber(100 * j.compute, 3)));
  out.Add("  {:<20}{:>9}{:>9}\n", "", "kernels", "step");
  for (const JitteredStep& p : j.percentiles) {
    line(p.percent == 50 ? "median" : fmt::format("{} % are within", p.percent),
         fmt::format("x {:.3f}", p.kernel_time), p.step);
  }
  line("mean", "", j.mean);
  out.Add("  {:<38}{:>+8.1f} % and {:+.1f} %\n", "which lies between",
          100 * (Ratio(j.mean_low, r.step) - 1), 100 * (Ratio(j.mean_high, r.step) - 1));
}

void AddCommunication(const StepReport& r, Lines& out) {
  if (r.collectives.empty()) return;
  out.Heading("Collectives, sums over the step");
  out.Add("  {:<24}{:<15}{:<20}{:>7}{:>10}{:>10}{:>10}\n", "name", "operation", "group", "calls",
          "payload", "wire", "egress");
  for (const CollectiveReport& c : r.collectives) {
    out.Add("  {:<24}{:<15}{:<20}{:>7}{:>10}{:>10}{:>10}\n", c.name, c.op,
            fmt::format("{} of {}", c.group, c.group_size), c.calls, FormatBytes(c.payload),
            FormatBytes(c.wire), FormatBytes(c.node_egress));
  }
  out.Add("\n  {:<24}{:>10}{:>10}{:>8}{:>8}{:>8}  {}\n", "", "time", "exposed", "algbw", "busbw",
          "bound", "limited by");
  for (const CollectiveReport& c : r.collectives) {
    out.Add("  {:<24}{:>10}{:>10}{:>8}{:>8}{:>8}  {}\n", c.name, FormatSeconds(c.time),
            FormatSeconds(c.exposed), GigabytesPerSecond(c.algbw), GigabytesPerSecond(c.busbw),
            GigabytesPerSecond(c.bound), c.bottleneck);
  }
  out.Add("  algbw, busbw and bound in GB/s\n");

  const double model = static_cast<double>(r.model.count());
  const auto volume = [&](std::string_view name, Bytes bytes) {
    out.Add("  {:<28}{:>11}  {:.3f} M\n", name, FormatBytes(bytes),
            model > 0 ? static_cast<double>(bytes.count()) / model : 0);
  };
  Bytes in_node;
  for (const CollectiveReport& c : r.collectives) in_node += c.in_node_per_gpu;
  out.Heading("Bytes a step");
  volume("model size M", r.model);
  volume("out of one node", r.node_egress);
  volume("in the node, from one GPU", in_node);
}

void AddMemory(const StepReport& r, Lines& out) {
  const MemoryReport& m = r.memory;
  const MemoryTerms& t = m.terms;
  const std::array<std::pair<std::string_view, Bytes>, 9> terms{{
      {"parameters", t.parameters},
      {"gradients", t.gradients},
      {"optimizer", t.optimizer},
      {"secondary shard", t.secondary_shard},
      {"live parameters", t.live_parameters},
      {"buffers", t.buffers},
      {"activations", t.activations},
      {"logits", t.logits},
      {"context", t.context},
  }};
  const double capacity = static_cast<double>(std::max<std::int64_t>(m.capacity.count(), 1));
  const auto line = [&](std::string_view name, Bytes bytes) {
    const double part = static_cast<double>(bytes.count()) / capacity;
    out.Add("  {:<20}{:>10}{:>8.1f} %{}\n", name, FormatBytes(bytes), 100 * part, Bar(part));
  };
  out.Heading("Memory of a GPU at its peak, and its share of the capacity");
  for (const auto& [name, bytes] : terms) {
    if (bytes != Bytes()) line(name, bytes);
  }
  line("peak", m.peak);
  out.Add("  {:<20}{:>10}  {}\n", "capacity", FormatBytes(m.capacity),
          m.fits ? "fits" : "DOES NOT FIT: this step cannot run");
  out.Add("  {:<20}{:>10}\n", "after the step", FormatBytes(m.after_step));
  if (m.host_per_node != Bytes()) {
    out.Add("  {:<20}{:>10}  of a node's memory{}\n", "offloaded", FormatBytes(m.host_per_node),
            m.host_capacity == Bytes() ? ""
                                       : fmt::format(", {}: {}", FormatBytes(m.host_capacity),
                                                     m.host_fits ? "fits" : "DOES NOT FIT"));
  }
  if (!m.peak_at.empty()) out.Add("  peak when the host launches {}\n", m.peak_at);
}

void AddQuantization(const StepReport& r, Lines& out) {
  out.Heading("Quantization on the way of a value");
  const auto line = [&](std::string_view name, const QuantizationPath& path) {
    if (path.events == 0) {
      out.Add("  {:<18}never quantized\n", name);
      return;
    }
    out.Add("  {:<18}{} event{}, {} bits in groups of {}, expected relative error {:.3g}{}\n", name,
            path.events, path.events == 1 ? "" : "s", path.bits, path.group_size,
            path.relative_error, path.of_difference ? " of changes" : "");
  };
  line("weights forward", r.weights_forward);
  line("weights backward", r.weights_backward);
  line("gradients", r.gradients);
}

void AddList(std::string_view heading, const std::vector<std::string>& entries, Lines& out) {
  if (entries.empty()) return;
  out.Heading(heading);
  for (const std::string& entry : entries) out.Add("  - {}\n", entry);
}

void AddParameters(const StepReport& r, Lines& out) {
  if (r.parameters_used.empty()) return;
  out.Heading("What the interval comes from: parameters, and what their ranges do to the step");
  for (const ParameterUsed& p : r.parameters_used) {
    out.Add("  {:<21}{:<36}{:>10}{:>10}\n", p.name, p.value, "-" + FormatSeconds(p.faster),
            "+" + FormatSeconds(p.slower));
  }
}

void AddBottlenecks(const StepReport& r, Lines& out) {
  if (r.bottlenecks.empty()) return;
  out.Heading("Links: mean utilization, and share of the step in which they are full");
  for (const Bottleneck& b : r.bottlenecks) {
    out.Add("  {:<28}{:>8.1f} %{:>8.1f} %\n", b.link, 100 * b.utilization, 100 * b.share_of_step);
  }
}

}  // namespace

std::string ReportText(const StepReport& report) {
  Lines out;
  AddSummary(report, out);
  AddTime(report, out);
  AddExceptions(report, out);
  AddJitter(report, out);
  AddCommunication(report, out);
  AddMemory(report, out);
  AddQuantization(report, out);
  AddBottlenecks(report, out);
  AddList("Warnings", report.warnings, out);
  AddParameters(report, out);
  // Fewer classes than there are links above: one that another always outlasts is not simulated.
  out.Add("\nzerosim {}, scenario sha256 {}\n{} {} on {} link class{} simulated\n", report.version,
          report.scenario_sha256.substr(0, 16), Grouped(static_cast<double>(report.activities)),
          report.activities == 1 ? "activity" : "activities", report.link_classes,
          report.link_classes == 1 ? "" : "es");
  return out.Take();
}

}  // namespace zerosim
