#include "tools/zerosim/collective_table.h"

#include <cstdint>

#include <fmt/format.h>

#include "tools/zerosim/version.h"
#include "validate/error_summary.h"

namespace zerosim {
namespace {

constexpr int kFloatBytes = 4;

int RanksOf(const CollectiveQuestion& question) {
  return question.nodes * question.gpus_per_node;
}

// Elements as nccl-tests counts them: of one rank in collectives that give each a part.
std::int64_t CountOf(const CollectiveQuestion& question, Bytes size) {
  const std::int64_t elements = size.count() / kFloatBytes;
  switch (question.kind) {
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllToAll:
      return elements / RanksOf(question);
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce:
    case CollectiveKind::kSendReceive:
      return elements;
  }
  return elements;
}

bool Sums(CollectiveKind kind) {
  return kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduceScatter ||
         kind == CollectiveKind::kReduce;
}

int RootOf(CollectiveKind kind) {
  return kind == CollectiveKind::kBroadcast || kind == CollectiveKind::kReduce ? 0 : -1;
}

// Seven characters, as many decimals as fit below 10,000.
std::string Micros(Seconds time) {
  const double us = time.microseconds();
  return fmt::format("{:7.{}f}", us, us < 100 ? 2 : us < 1000 ? 1 : 0);
}

std::string Dash(const std::string& text) {
  return text.empty() ? "-" : text;
}

double ErrorOf(const CollectiveAnswer& answer, std::size_t row) {
  return Ratio(answer.rows[row].cost.time(), answer.measured[row]) - 1;
}

std::string ErrorLine(const CollectiveAnswer& answer) {
  if (answer.rows.empty()) return "# no row of the log to compare\n";
  std::vector<double> errors;
  for (std::size_t i = 0; i < answer.rows.size(); ++i) errors.push_back(ErrorOf(answer, i));
  const ErrorSummary summary = Summarize(errors);
  return fmt::format(
      "# error of the time over {} rows: median {:.1f} %, 90th percentile {:.1f} %, worst {:.1f} "
      "%\n",
      summary.count, 100 * summary.median, 100 * summary.p90, 100 * summary.worst);
}

}  // namespace

std::string CollectiveTable(const CollectiveAnswer& answer) {
  const CollectiveQuestion& q = answer.question;
  std::string text =
      fmt::format("# {} on {}: {} nodes x {} GPUs, {}\n", NameOf(q.kind), answer.cluster, q.nodes,
                  q.gpus_per_node, q.algorithm ? "no NCCL" : "NCCL " + Name(q.version));
  const bool compares = !answer.measured.empty();
  text += fmt::format(
      "#       size         count    type   redop    root     time   algbw   busbw   bound  "
      "{}algorithm          proto   ch  limit\n"
      "#        (B)    (elements)                             (us)  (GB/s)  (GB/s)  (GB/s){}\n",
      compares ? "measured   error  " : "", compares ? "      (us)" : "");
  for (std::size_t i = 0; i < answer.rows.size(); ++i) {
    const CollectiveRow& row = answer.rows[i];
    std::string measured;
    if (compares) {
      measured =
          fmt::format(" {}  {:+5.1f} %  ", Micros(answer.measured[i]), 100 * ErrorOf(answer, i));
    }
    text += fmt::format(
        "{:12}  {:12}  {:>6}  {:>6}  {:>6}  {}  {:6.2f}  {:6.2f}  {:6.2f}  {}{:<17}  {:<6}  {:>3}  "
        "{}\n",
        row.size.count(), CountOf(q, row.size), "float", Sums(q.kind) ? "sum" : "none",
        RootOf(q.kind), Micros(row.cost.time()), row.algbw.gigabytes_per_second(),
        row.busbw.gigabytes_per_second(), row.busbw_bound.gigabytes_per_second(), measured,
        Dash(row.cost.algorithm), Dash(row.cost.protocol),
        row.cost.channels > 0 ? std::to_string(row.cost.channels) : "-", row.cost.limit);
  }
  if (compares) text += ErrorLine(answer);
  return text;
}

std::string CollectiveCsv(const std::vector<CollectiveAnswer>& answers) {
  std::string text =
      "cluster,op,nodes,gpus_per_node,size_B,time_us,algbw_GBps,busbw_GBps,bound_GBps,algorithm,"
      "protocol,channels,latency_us,transfer_us,fill_us,limit\n";
  for (const CollectiveAnswer& answer : answers) {
    const CollectiveQuestion& q = answer.question;
    for (const CollectiveRow& row : answer.rows) {
      std::string cluster;
      for (const char c : answer.cluster)
        cluster += c == '"' ? std::string("\"\"") : std::string(1, c);
      text += fmt::format(
          "\"{}\",{},{},{},{},{:.9g},{:.9g},{:.9g},{:.9g},{},{},{},{:.9g},{:.9g},{:.9g},{}\n",
          cluster, NameOf(q.kind), q.nodes, q.gpus_per_node, row.size.count(),
          row.cost.time().microseconds(), row.algbw.gigabytes_per_second(),
          row.busbw.gigabytes_per_second(), row.busbw_bound.gigabytes_per_second(),
          row.cost.algorithm, row.cost.protocol, row.cost.channels, row.cost.latency.microseconds(),
          row.cost.transfer.microseconds(), row.cost.fill.microseconds(), row.cost.limit);
    }
  }
  return text;
}

nlohmann::ordered_json CollectiveJson(const std::vector<CollectiveAnswer>& answers) {
  nlohmann::ordered_json json;
  json["zerosim"] = {{"version", Version()}};
  for (const CollectiveAnswer& answer : answers) {
    const CollectiveQuestion& q = answer.question;
    nlohmann::ordered_json result;
    result["cluster"] = answer.cluster;
    result["cluster_sha256"] = answer.sha256;
    result["op"] = NameOf(q.kind);
    result["nodes"] = q.nodes;
    result["gpus_per_node"] = q.gpus_per_node;
    result["nccl_version"] = q.algorithm ? "" : Name(q.version);
    for (std::size_t i = 0; i < answer.rows.size(); ++i) {
      const CollectiveRow& row = answer.rows[i];
      result["rows"].push_back({{"size_bytes", row.size.count()},
                                {"time_s", row.cost.time().seconds()},
                                {"latency_s", row.cost.latency.seconds()},
                                {"transfer_s", row.cost.transfer.seconds()},
                                {"fill_s", row.cost.fill.seconds()},
                                {"bound_s", row.bound.seconds()},
                                {"algbw_GBps", row.algbw.gigabytes_per_second()},
                                {"busbw_GBps", row.busbw.gigabytes_per_second()},
                                {"bound_GBps", row.busbw_bound.gigabytes_per_second()},
                                {"algorithm", row.cost.algorithm},
                                {"protocol", row.cost.protocol},
                                {"channels", row.cost.channels},
                                {"node_egress_bytes", row.cost.out_of_node},
                                {"limit", row.cost.limit}});
      if (answer.measured.empty()) continue;
      result["rows"].back()["measured_s"] = answer.measured[i].seconds();
      result["rows"].back()["error"] = ErrorOf(answer, i);
    }
    json["results"].push_back(std::move(result));
  }
  return json;
}

}  // namespace zerosim
