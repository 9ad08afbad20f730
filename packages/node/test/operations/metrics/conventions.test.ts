/** Conventions of `promtool check metrics`, so that a metric can be changed without it. */
import { expect, test } from "vitest";
import { Metrics } from "../../../src/operations/metrics/metrics.ts";
import { FIGURES } from "./figures.ts";

type Family = { readonly type: string; readonly help: string };

const SAMPLE = /^([a-zA-Z0-9_:]+)(?:\{(.*)\})? \S+$/;
const PARTS = /_(bucket|sum|count)$/;
/** Names of types, and units that are not base units. */
const UNWANTED =
  /_(counter|gauge|histogram|summary|ms|us|ns|sec|secs|milliseconds|microseconds|nanoseconds|minutes|hours|days|kb|mb|kib|mib|kilobytes|megabytes)(_|$)/;

/** Describes each violation of a page in the text format. */
function faultsOf(page: string): string[] {
  const families = new Map<string, Family>();
  const helps = new Map<string, string>();
  const faults: string[] = [];
  const seen = new Set<string>();
  for (const line of page.split("\n").filter((text) => text !== "")) {
    const [hash, keyword, name = "", ...rest] = line.split(" ");
    if (hash === "#" && keyword === "HELP") helps.set(name, rest.join(" "));
    else if (hash === "#" && keyword === "TYPE") {
      if (families.has(name)) faults.push(`${name} is declared twice`);
      const family = { type: rest[0] ?? "", help: helps.get(name) ?? "" };
      families.set(name, family);
      faults.push(...faultsOfFamily(name, family));
    } else faults.push(...faultsOfSample(line, families, seen));
  }
  return faults;
}

function faultsOfFamily(name: string, { type, help }: Family): string[] {
  const isCounter = type === "counter";
  return [
    ...(help === "" ? [`${name} has no help`] : []),
    ...(/^[a-z][a-z0-9_]*$/.test(name) ? [] : [`${name} is not in lower case`]),
    ...(isCounter === name.endsWith("_total") ? [] : [`${name} is a ${type}, and its ending says otherwise`]),
    ...(PARTS.test(name) ? [`${name} ends as a part of a histogram does`] : []),
    ...(UNWANTED.test(name) ? [`${name} contains a type, or a unit that is no base unit`] : []),
  ];
}

function faultsOfSample(line: string, families: ReadonlyMap<string, Family>, seen: Set<string>): string[] {
  const [, name, labels = ""] = SAMPLE.exec(line) ?? [];
  if (name === undefined) return [`no sample: ${line}`];
  const series = `${name}{${labels}}`;
  const isRepeated = seen.has(series);
  seen.add(series);
  const whole = name.replace(PARTS, "");
  const isHistogram = families.get(whole)?.type === "histogram";
  return [
    ...(isRepeated ? [`${series} is there twice`] : []),
    ...(families.has(isHistogram ? whole : name) ? [] : [`${name} has no type`]),
    ...(!isHistogram && /(^|,)le=/.test(labels) ? [`${name} has the label of a histogram`] : []),
    ...(/(^|,)quantile=/.test(labels) ? [`${name} has the label of a summary`] : []),
  ];
}

/** Page with a sample of every family. */
async function fullPage(): Promise<string> {
  const metrics = new Metrics("1.2.3");
  metrics.http.responded({ method: "GET", route: "/api/blocks/:id", status: 200, seconds: 0.1 });
  metrics.webhooks.attempted({ status: 200, durationMs: 10 } as never);
  metrics.webhooks.decided(1, "delivered");
  return metrics.page(FIGURES, 100_000);
}

test("Every metric follows the conventions of Prometheus.", async () => {
  const page = await fullPage();
  expect(page.match(/^# TYPE /gm)?.length).toBeGreaterThan(30);
  expect(faultsOf(page)).toEqual([]);
});

test.each([
  ["# TYPE a_total counter\na_total 1", "a_total has no help"],
  ["# HELP a b\n# TYPE a counter\na 1", "a is a counter, and its ending says otherwise"],
  ["# HELP a_total b\n# TYPE a_total gauge\na_total 1", "a_total is a gauge, and its ending says otherwise"],
  ["# HELP a_ms b\n# TYPE a_ms gauge\na_ms 1", "a_ms contains a type, or a unit that is no base unit"],
  ["# HELP aB b\n# TYPE aB gauge\naB 1", "aB is not in lower case"],
  ["# HELP a_count b\n# TYPE a_count gauge\na_count 1", "a_count ends as a part of a histogram does"],
  ['# HELP a b\n# TYPE a gauge\na{quantile="1"} 1', "a has the label of a summary"],
  ['# HELP a b\n# TYPE a gauge\na{le="1"} 1', "a has the label of a histogram"],
  ["# HELP a b\n# TYPE a gauge\na 1\na 2", "a{} is there twice"],
  ["# HELP a b\n# TYPE a gauge\n# HELP a b\n# TYPE a gauge", "a is declared twice"],
  ["b 1", "b has no type"],
])("The check finds the violation: %j.", (page, fault) => {
  expect(faultsOf(page)).toContain(fault);
});
