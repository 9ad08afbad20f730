import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { Registry } from "../../../src/operations/metrics/instruments.ts";
import { Metrics } from "../../../src/operations/metrics/metrics.ts";
import {
  createServerMetrics,
  createWitnessMetrics,
  createWorkerMetrics,
} from "../../../src/operations/metrics/other-processes.ts";
import { FIGURES_WITH_MIRROR } from "./figures.ts";

type Panel = { title: string; description?: string; targets?: { expr: string }[] };
const path = new URL("../../../../../ops/grafana/uniknode.json", import.meta.url);
const { panels } = JSON.parse(readFileSync(path, "utf8")) as { panels: Panel[] };

/** Names of metrics in a text, without the suffixes of histograms. */
const namesIn = (text: string) =>
  (text.match(/uniknode_[a-z_]+/g) ?? []).map((name) => name.replace(/_(bucket|sum|count)$/, ""));

/** Metrics of a node with a mirror, and the further ones of API servers, delivery workers and witnesses. */
async function metricNames(): Promise<string[]> {
  const servers = new Registry();
  createServerMetrics(servers);
  createWorkerMetrics(servers);
  createWitnessMetrics(servers);
  const page = `${await new Metrics("1").page(FIGURES_WITH_MIRROR, 0)}\n${await servers.metrics()}`;
  return [...page.matchAll(/^# TYPE (\S+)/gm)].map(([, name = ""]) => name).sort();
}

test("The dashboard shows every metric of a node, a server and a worker, and only existing ones.", async () => {
  const shown = panels.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => namesIn(expr)));
  expect([...new Set(shown)].sort()).toEqual(await metricNames());
});

test("The guide names only metrics that exist.", async () => {
  const guide = readFileSync(new URL("../../../../../docs/guides/observability.md", import.meta.url), "utf8");
  const names = await metricNames();
  expect(namesIn(guide).filter((name) => !names.includes(name))).toEqual([]);
});

test("Every panel of the dashboard has a description.", () => {
  for (const { title, description, targets } of panels) {
    if (targets) expect([title, description]).toEqual([title, expect.stringMatching(/\.$/)]);
  }
});

test("The names of metrics have their units.", async () => {
  const page = await new Metrics("1").page(FIGURES_WITH_MIRROR, 0);
  for (const [, name = "", type] of page.matchAll(/^# TYPE (\S+) (\S+)/gm)) {
    expect([name, name.endsWith("_total")]).toEqual([name, type === "counter"]);
    if (type === "histogram") expect(name).toMatch(/_seconds$/);
  }
});
