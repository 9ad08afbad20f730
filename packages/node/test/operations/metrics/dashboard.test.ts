import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createMetrics } from "../../../src/operations/metrics/metrics.ts";
import { FIGURES } from "./figures.ts";

type Panel = { title: string; description?: string; targets?: { expr: string }[] };
const path = new URL("../../../../../ops/grafana/uniknode.json", import.meta.url);
const { panels } = JSON.parse(readFileSync(path, "utf8")) as { panels: Panel[] };

/** The names of a text, without what histograms add to theirs. */
const namesIn = (text: string) =>
  (text.match(/uniknode_[a-z_]+/g) ?? []).map((name) => name.replace(/_(bucket|sum|count)$/, ""));

async function metricNames(): Promise<string[]> {
  const page = await createMetrics("1").page(FIGURES, 0);
  return [...page.matchAll(/^# TYPE (\S+)/gm)].map(([, name = ""]) => name).sort();
}

test("the dashboard shows every metric, and none that there is not", async () => {
  const shown = panels.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => namesIn(expr)));
  expect([...new Set(shown)].sort()).toEqual(await metricNames());
});

test("the guide explains every metric, and none that there is not", async () => {
  const guide = readFileSync(new URL("../../../../../docs/guides/observability.md", import.meta.url), "utf8");
  expect([...new Set(namesIn(guide))].sort()).toEqual(await metricNames());
});

test("every panel of the dashboard says what it tells", () => {
  for (const { title, description, targets } of panels) {
    if (targets) expect([title, description]).toEqual([title, expect.stringMatching(/\.$/)]);
  }
});

test("metrics are named by their units", async () => {
  const page = await createMetrics("1").page(FIGURES, 0);
  for (const [, name = "", type] of page.matchAll(/^# TYPE (\S+) (\S+)/gm)) {
    expect([name, name.endsWith("_total")]).toEqual([name, type === "counter"]);
    if (type === "histogram") expect(name).toMatch(/_seconds$/);
  }
});
