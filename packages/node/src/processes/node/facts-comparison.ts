/** Compares the fact tree with the trees of other nodes; loaded only if other nodes are configured. */
import type { Comparison } from "../../facts/comparison/comparison.ts";
import { logName } from "../../facts/note.ts";
import { createFactReader } from "../../facts/reader.ts";
import type { Closing } from "../../platform/lifecycle/closing.ts";
import { openDatabase } from "../../store/engine/database.ts";
import type { DataFolder } from "./data-folder.ts";
import type { Environment } from "./environment.ts";
import type { NodeEventLog } from "./event-log.ts";

export type FactsComparisonDeps = Pick<Environment, "network" | "nowMs" | "logger"> &
  Pick<DataFolder, "databasePath"> &
  Pick<NodeEventLog, "report">;

/** @param urls of other nodes */
export async function compareFacts(
  urls: readonly string[],
  { databasePath, network, report, nowMs, logger }: FactsComparisonDeps,
  onStop: Closing["add"],
): Promise<Comparison> {
  const { startComparison } = await import("../../facts/comparison/comparison.ts");
  const database = openDatabase(databasePath, { readonly: true });
  onStop("reader of the tree of facts", database.close);
  const comparison = startComparison(
    { urls, name: logName(network.description.nethash) },
    { facts: createFactReader(database, network), report, nowMs, logger },
  );
  onStop("comparison of facts", comparison.close);
  return comparison;
}
