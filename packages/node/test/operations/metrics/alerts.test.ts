/** Alert rules for Prometheus: valid, about existing metrics, and raised by their causes. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { Registry } from "../../../src/operations/metrics/instruments.ts";
import { Metrics } from "../../../src/operations/metrics/metrics.ts";
import {
  createServerMetrics,
  createWitnessMetrics,
  createWorkerMetrics,
} from "../../../src/operations/metrics/other-processes.ts";
import { missingProgram, skips } from "../../../test-support/process/available.ts";
import { FIGURES_WITH_MIRROR } from "./figures.ts";

const RULES = fileURLToPath(new URL("../../../../../ops/prometheus/uniknode-rules.yaml", import.meta.url));
const CASES = fileURLToPath(new URL("./alerts.yaml", import.meta.url));
const rules = readFileSync(RULES, "utf8");
const names = [...rules.matchAll(/^ +- alert: (\w+)$/gm)].map(([, name = ""]) => name);

/** Path of the Debian package `prometheus`. */
const promtool = (...args: string[]) => spawnSync("promtool", args, { encoding: "utf8" });
const isSkipped = skips(missingProgram("promtool"));

test.skipIf(isSkipped)("The tool promtool accepts the rules.", () => {
  expect(promtool("check", "rules", RULES)).toMatchObject({ status: 0, stderr: "" });
});

test.skipIf(isSkipped)("A healthy node raises no alert, and each alert is raised.", () => {
  const { status, stdout, stderr } = promtool("test", "rules", CASES);
  expect({ status, stderr }, stdout).toEqual({ status: 0, stderr: "" });
});

test("Each alert has both cases, a severity, and the next step.", () => {
  const cases = readFileSync(CASES, "utf8");
  expect(names.length).toBeGreaterThan(15);
  for (const name of names) {
    expect(cases).toContain(`alertname: ${name} }`);
    expect(cases).toContain(`alertname="${name}"`);
  }
  for (const rule of rules.split(/^ +- alert: /m).slice(1)) {
    expect(rule).toMatch(/severity: (critical|warning) \}/);
    expect(rule).toMatch(/^ +summary: ".+"$/m);
    expect(rule).toMatch(/^ +description: ".+\."$/m);
  }
});

test("The rules name metrics that exist.", async () => {
  const servers = new Registry();
  createServerMetrics(servers);
  createWorkerMetrics(servers);
  createWitnessMetrics(servers);
  const page = `${await new Metrics("1").page(FIGURES_WITH_MIRROR, 0)}\n${await servers.metrics()}`;
  for (const [name] of rules.matchAll(/\buniknode_[a-z_]+/g))
    expect(page, name).toMatch(new RegExp(`^# TYPE ${name} `, "m"));
});
