import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { conformOptions } from "../../../src/commands/conform/conform-options.ts";
import { rpcOptions } from "../../../src/commands/rpc.ts";
import { type Option, toFlag } from "../../../src/config/define-option.ts";
import { deliverOptions, mirrorOptions, serveOptions } from "../../../src/config/mirror.ts";
import { devOptions, runOptions } from "../../../src/config/options.ts";
import { witnessOptions } from "../../../src/config/witness.ts";
import { Registry } from "../../../src/operations/metrics/instruments.ts";
import { Metrics } from "../../../src/operations/metrics/metrics.ts";
import {
  createServerMetrics,
  createWitnessMetrics,
  createWorkerMetrics,
} from "../../../src/operations/metrics/other-processes.ts";
import { FIGURES_WITH_MIRROR } from "./figures.ts";

const path = new URL("../../../../../docs/reference/limits.md", import.meta.url);
/** Without the section about growth, whose table has other columns. */
const rows = readFileSync(path, "utf8")
  .replace(/^## Growth\n.*?(?=^## )/ms, "")
  .split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("| resource "))
  .map((line) =>
    line
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim()),
  );

test("Every row of the table of limits names the resource, the bound, and the effect beyond it.", () => {
  expect(rows.length).toBeGreaterThan(50);
  const anyText = expect.stringMatching(/./);
  for (const row of rows) expect(row).toEqual([anyText, anyText, anyText]);
});

test("Options and metrics in the table of limits exist.", async () => {
  const servers = new Registry();
  createServerMetrics(servers);
  createWorkerMetrics(servers);
  createWitnessMetrics(servers);
  const page = `${await new Metrics("1").page(FIGURES_WITH_MIRROR, 0)}\n${await servers.metrics()}`;
  const metrics = new Set([...page.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
  const flags = new Set(
    [
      ...[devOptions, runOptions, rpcOptions, mirrorOptions, serveOptions, deliverOptions],
      ...[conformOptions, witnessOptions],
    ]
      .flatMap((table): Option[] => Object.values(table))
      .map(toFlag),
  );
  const named = rows.flatMap(
    (cells) => cells.join(" ").match(/(?<=`)(?:--[a-z0-9-]+|uniknode_[a-z_]+)/g) ?? [],
  );
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((name) => !flags.has(name) && !metrics.has(name))).toEqual([]);
});
