/**
 * `uniknode mirror`, `serve` and `deliver`: the processes that use PostgreSQL. Each loads its modules, and with them the driver,
 * when it starts.
 */
import { Command } from "commander";
import { deliverOptions, mirrorOptions, serveOptions } from "../config/mirror.ts";
import type { Config } from "../config/resolve.ts";
import { limitHeapGrowth, serveUntilStopped, stopSignal } from "../platform/lifecycle/process.ts";
import { type Log, openLog } from "../platform/logging/logger.ts";
import { openOutput } from "../platform/logging/output.ts";
import { withOptions } from "./flags.ts";
import { columns, printLines } from "./print.ts";

export function mirrorCommand(): Command {
  const command = new Command("mirror").option(
    "--check",
    "Compare every table with the node instead; exit code 1 if a row differs.",
  );
  return withOptions(command, mirrorOptions, async (config) => {
    const log = openLog(config.logLevel, config.logFormat);
    if (command.opts<{ check?: boolean }>().check) {
      await check(config, log);
      return;
    }
    const { startMirror } = await import("../processes/mirror/mirror.ts");
    await serveUntilStopped({ log, start: (signal) => startMirror(config, log.logger, signal) });
  });
}

/** @throws {MirrorError} MIRROR_DIFFERS */
async function check(config: Config<typeof mirrorOptions>, { logger }: Log): Promise<void> {
  const { checkMirrorOf } = await import("../processes/mirror/mirror.ts");
  const { requireEqual } = await import("../mirror/check/check.ts");
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

export function serveCommand(): Command {
  return withOptions(new Command("serve"), serveOptions, async (config) => {
    const output = openOutput();
    const log = openLog(config.logLevel, config.logFormat);
    const { startServe } = await import("../processes/serve/serve.ts");
    await serveUntilStopped({
      log,
      async start(signal) {
        const served = await startServe(config, log, signal);
        output.write(`${served.url}\n`);
        return served;
      },
    });
  });
}

export function deliverCommand(): Command {
  return withOptions(new Command("deliver"), deliverOptions, async (config) => {
    const output = openOutput();
    const log = openLog(config.logLevel, config.logFormat);
    const { startDeliver } = await import("../processes/deliver/deliver.ts");
    await serveUntilStopped({
      log,
      async start(signal) {
        const served = await startDeliver(config, log.logger, signal);
        output.write(`${served.url}\n`);
        return served;
      },
      heap: { growsForNewObjects: true },
    });
  });
}
