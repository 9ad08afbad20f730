/** `uniknode mirror`: copies the chain of a node into PostgreSQL. */
import { Command } from "commander";
import { mirrorOptions } from "../../config/mirror.ts";
import type { Config } from "../../config/resolve.ts";
import { limitHeapGrowth } from "../../platform/lifecycle/heap.ts";
import { serveUntilStopped } from "../../platform/lifecycle/process.ts";
import { stopSignal } from "../../platform/lifecycle/signals.ts";
import { type Log, openLog } from "../../platform/logging/logger.ts";
import { columns } from "../columns.ts";
import { addFlags, readConfig } from "../options.ts";
import { printLines } from "../print.ts";

export function mirrorCommand(): Command {
  const command = new Command("mirror").option(
    "--check",
    "Compare every table with the node instead; exit code 1 if a row differs.",
  );
  return addFlags(command, mirrorOptions).action(async () => {
    const config = readConfig(command, mirrorOptions);
    const log = openLog(config.logLevel, config.logFormat);
    if (command.opts<{ check?: boolean }>().check) {
      await check(config, log);
      return;
    }
    // Only this command loads the driver.
    const { startMirror } = await import("../../processes/mirror/mirror.ts");
    await serveUntilStopped({ log, start: (signal) => startMirror(config, log.logger, signal) });
  });
}

/** @throws {MirrorError} MIRROR_DIFFERS */
async function check(config: Config<typeof mirrorOptions>, { logger }: Log): Promise<void> {
  const { checkMirrorOf } = await import("../../processes/mirror/mirror.ts");
  const { requireEqual } = await import("../../mirror/check/check.ts");
  limitHeapGrowth();
  const stopping = new AbortController();
  void stopSignal().then(() => stopping.abort());
  const result = await checkMirrorOf(config, logger, stopping.signal);
  const { height, id } = result.position;
  const rows = result.tables.map(({ table, rows, digests, difference }) => [
    table,
    `${rows}`,
    digests.mirror.slice(0, DIGEST_CHARACTERS),
    difference ? `${difference.rows} rows differ, from ${difference.from} to ${difference.to}` : "equal",
  ]);
  printLines([`block ${height} ${id}`, ...columns(["TABLE", "ROWS", "SHA-256", "VERDICT"], rows)]);
  requireEqual(result);
}

/** First characters of a digest: enough to compare two by eye. */
const DIGEST_CHARACTERS = 16;
