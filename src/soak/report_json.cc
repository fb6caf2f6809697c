#include <cmath>
#include <nlohmann/json.hpp>

#include "soak/report.h"

namespace tare {
namespace {

using Json = nlohmann::ordered_json;

Json Number(double v) {
  if (!std::isfinite(v)) return nullptr;
  if (v == std::floor(v) && std::abs(v) < 1e15) return static_cast<int64_t>(v);
  return v;
}

Json SharesToJson(const std::vector<Share>& shares) {
  Json list = Json::array();
  for (const Share& s : shares) list.push_back({{"name", s.name}, {"per_cycle", Number(s.per_cycle)}});
  return list;
}

Json VerdictToJson(const Verdict& v) {
  Json meters = Json::object();
  for (const MeterVerdict& m : v.meters) {
    const Slope& s = m.trend.reported();
    meters[std::string(InfoOf(m.meter).key)] = {
        {"judgement", JudgementName(m.judgement)}, {"base", Number(m.base)}, {"change", Number(m.change)},
        {"per_cycle", Number(s.slope)}, {"low", Number(s.low)}, {"high", Number(s.high)}, {"note", m.note}};
  }
  return {{"judgement", JudgementName(v.judgement)},
          {"exit_status", v.exit_status()},
          {"summary", v.summary},
          {"warm_up", v.warm_up},
          {"meters", meters}};
}

Json SeriesToJson(const std::vector<Sample>& samples) {
  Json series = Json::object();
  for (size_t i = 0; i < kMeterCount; ++i) {
    auto meter = static_cast<Meter>(i);
    Json values = Json::array();
    bool any = false;
    for (const Sample& s : samples) {
      any = any || s.has(meter);
      values.push_back(s.has(meter) ? Json(s[meter]) : Json());
    }
    if (any) series[std::string(InfoOf(meter).key)] = std::move(values);
  }
  return series;
}

Status Malformed(std::string_view what) {
  return InvalidArgument("not a report of tare soak: {}", what);
}

// The member, or null when there is none or `object` is no object.
const Json& Member(const Json& object, const char* key) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  auto it = object.find(key);
  return it == object.end() ? kNull : *it;
}

std::string Text(const Json& j) { return j.is_string() ? j.get<std::string>() : ""; }

Result<std::vector<Share>> SharesFromJson(const Json& list) {
  std::vector<Share> shares;
  for (const Json& s : list) {
    const Json& per_cycle = Member(s, "per_cycle");
    if (!per_cycle.is_number()) return Malformed("a share without per_cycle");
    shares.push_back({Text(Member(s, "name")), per_cycle.get<double>()});
  }
  return shares;
}

Status ReadSeries(const Json& series, std::vector<Sample>& samples) {
  for (size_t i = 0; i < kMeterCount; ++i) {
    auto meter = static_cast<Meter>(i);
    const Json& values = Member(series, std::string(InfoOf(meter).key).c_str());
    if (values.is_null()) continue;
    if (!values.is_array() || values.size() != samples.size()) {
      return Malformed(fmt::format("series {} is not one figure a cycle", InfoOf(meter).key));
    }
    for (size_t c = 0; c < samples.size(); ++c) {
      if (values[c].is_number_integer()) samples[c][meter] = values[c].get<int64_t>();
    }
  }
  return OkStatus();
}

}  // namespace

std::string ToJson(const SoakResult& r) {
  Json context = Json::array();
  for (const auto& [name, value] : r.context) context.push_back({name, value});
  Json j = {{"tare_soak", 1},
            {"targets", r.targets},
            {"context", context},
            {"allocation_meter", r.allocation_meter},
            {"cycles", r.samples.size()},
            {"seconds", r.seconds},
            {"verdict", VerdictToJson(r.verdict)},
            {"target_shares", SharesToJson(r.target_shares)},
            {"cache_ops", SharesToJson(r.cache_ops)},
            {"series", SeriesToJson(r.samples)}};
  // Names of models are bytes of the file system: what is no UTF-8 is replaced.
  return j.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<SoakResult> FromJson(std::string_view text) {
  Json j = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (j.is_discarded()) return Malformed("no JSON");
  if (Member(j, "tare_soak") != 1) return Malformed("\"tare_soak\" is not 1");
  const Json& cycles = Member(j, "cycles");
  // No more cycles than the text has room for.
  if (!cycles.is_number_unsigned() || cycles.get<uint64_t>() > text.size()) return Malformed("cycles");
  SoakResult r;
  for (const Json& t : Member(j, "targets")) r.targets.push_back(Text(t));
  for (const Json& c : Member(j, "context")) {
    if (c.is_array() && c.size() == 2) r.context.emplace_back(Text(c[0]), Text(c[1]));
  }
  r.allocation_meter = Text(Member(j, "allocation_meter"));
  if (const Json& seconds = Member(j, "seconds"); seconds.is_number()) r.seconds = seconds.get<double>();
  r.samples.resize(cycles.get<size_t>());
  for (size_t c = 0; c < r.samples.size(); ++c) r.samples[c].cycle = static_cast<int32_t>(c);
  TARE_RETURN_IF_ERROR(ReadSeries(Member(j, "series"), r.samples));
  TARE_ASSIGN_OR_RETURN(r.target_shares, SharesFromJson(Member(j, "target_shares")));
  TARE_ASSIGN_OR_RETURN(r.cache_ops, SharesFromJson(Member(j, "cache_ops")));
  r.verdict = Judge(r.samples, r.cache_ops, r.target_shares);
  return r;
}

}  // namespace tare
