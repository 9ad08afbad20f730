#!/usr/bin/env bash
# Histograms and summaries with labels, in a parser of the Prometheus text format for JavaScript
#
# One would guess: a parser of the text format returns each series: a histogram with the labels `method` and `status` has one entry for each
# pair, each with its labels, buckets, sum and count.
# What happens: parse-prometheus-text-format 1.1.1 does so for counters and gauges. Of a histogram or summary with labels it returns one
# entry without labels, sum and count, whose buckets are those of the last series on the page. If the series have other buckets, it
# contains those of all series, mixed. Without labels all is right.
# Whom it hurts: dashboards, tests and autoscalers in JavaScript that read the metrics page of a service: latencies are those of one
# route, which depends on the order of the page, and rates made of `count` are missing.
# Versions: parse-prometheus-text-format 1.1.1, page of prom-client 15.1.3; found on 2026-11-28 with Node.js 20 and 24.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"name":"finding","private":true,"type":"module"}' > package.json
npm install --no-audit --no-fund --loglevel=error --ignore-scripts parse-prometheus-text-format@1.1.1 prom-client@15.1.3
cat > finding.mjs <<'JS'
import parse from "parse-prometheus-text-format";
import client from "prom-client";

const registers = [];
const page = async (Metric, options, series, observe) => {
  const register = new client.Registry();
  registers.push(register);
  const metric = new Metric({ name: "requests", help: "Requests", registers: [register], ...options });
  for (const [labels, values] of series) for (const value of values) observe(metric, labels, value);
  return register.metrics();
};
const SERIES = [
  [{ method: "GET" }, [0.1, 0.1, 0.1]],
  [{ method: "POST" }, [3]],
];
const labelled = { labelNames: ["method"] };
const observe = (metric, labels, value) => metric.observe(labels, value);
const increase = (metric, labels) => metric.inc(labels);
const pages = {
  "counter, two series": await page(client.Counter, labelled, SERIES, increase),
  "histogram, no labels": await page(client.Histogram, { buckets: [1, 5] }, [[{}, [0.1, 3]]], observe),
  "histogram, two series": await page(client.Histogram, { ...labelled, buckets: [1, 5] }, SERIES, observe),
  "summary, two series": await page(client.Summary, { ...labelled, percentiles: [0.5] }, SERIES, observe),
};
const seen = {};
for (const [name, text] of Object.entries(pages)) seen[name] = JSON.stringify(parse(text)[0].metrics);

// The same histogram from two versions of a service behind one page, with other buckets.
seen["histogram, other buckets"] = JSON.stringify(
  parse(`# TYPE requests histogram
requests_bucket{method="GET",le="0.5"} 7
requests_bucket{method="GET",le="+Inf"} 7
requests_sum{method="GET"} 1
requests_count{method="GET"} 7
requests_bucket{method="POST",le="5"} 1
requests_bucket{method="POST",le="+Inf"} 1
requests_sum{method="POST"} 3
requests_count{method="POST"} 1
`)[0].metrics,
);

console.log(`Node.js ${process.version}\n${pages["histogram, two series"]}`);
for (const [name, value] of Object.entries(seen)) console.log(`${name.padEnd(26)}${value}`);
const expected = {
  "counter, two series": '[{"value":"3","labels":{"method":"GET"}},{"value":"1","labels":{"method":"POST"}}]',
  "histogram, no labels": '[{"buckets":{"1":"1","5":"2","+Inf":"2"},"count":"2","sum":"3.1"}]',
  "histogram, two series": '[{"buckets":{"1":"0","5":"1","+Inf":"1"}}]',
  "summary, two series": '[{"quantiles":{"0.5":"3"}}]',
  "histogram, other buckets": '[{"buckets":{"5":"1","0.5":"7","+Inf":"1"}}]',
};
if (JSON.stringify(seen) !== JSON.stringify(expected)) {
  console.log("The behaviour has changed.");
  process.exit(1);
}
JS
npm ls --depth=0 | tail -n +2
node finding.mjs
