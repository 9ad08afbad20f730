/**
 * Converts the database of an earlier version before it is opened. The log has it at level "warn", which every command shows: nothing
 * is served meanwhile.
 */
import { statSync } from "node:fs";
import type { Network } from "@uniknode/protocol";
import type { Logger } from "pino";
import { openDatabase } from "../../store/engine/database.ts";
import { isOlder } from "../../store/engine/migrations.ts";

export type StartDeps = {
  readonly network: Network;
  readonly logger: Pick<Logger, "warn">;
  /** Aborted when the node is to stop before it has started. */
  readonly stopping: AbortSignal;
  /** Called again and again while the start takes long. */
  readonly onStarting: () => void;
};

const LOG_INTERVAL_MS = 10_000;

/**
 * Does nothing for a database of this version, and if there is none.
 *
 * @param path of the database, in a locked folder
 * @throws {DataError | MigrationError}
 * @throws {Error} `AbortError` when the node is to stop; the next start continues
 */
export async function convertIfOlder(path: string, deps: StartDeps): Promise<void> {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile() || !isOlderFile(path)) return;
  const { network, logger, stopping: signal } = deps;
  const [startMs, megabytes] = [performance.now(), megabytesOf(path)];
  logger.warn(
    { megabytes },
    "converting the data folder of an earlier version, once: a stopped conversion continues with the next start",
  );
  // Other starts do not load this code.
  const { convertDatabase } = await import("../../archive/conversion/convert.ts");
  await convertDatabase(path, { network, signal, onProgress: createProgressLog(deps) });
  const seconds = Math.round((performance.now() - startMs) / 1_000);
  logger.warn(
    { seconds, megabytesBefore: megabytes, megabytes: megabytesOf(path) },
    "the data folder is converted",
  );
}

function isOlderFile(path: string): boolean {
  const database = openDatabase(path, { readonly: true });
  try {
    return isOlder(database, path);
  } finally {
    database.close();
  }
}

const megabytesOf = (path: string): number => Math.ceil(statSync(path).size / 1e6);

/** Logs the step, its part and the remaining time of the step, at most every 10 s. */
function createProgressLog({ logger, onStarting }: StartDeps): (step: string, part: number) => void {
  let [current, stepMs, loggedMs] = ["", 0, performance.now()];
  return (step, part) => {
    onStarting();
    const nowMs = performance.now();
    if (step !== current) [current, stepMs] = [step, nowMs];
    if (nowMs - loggedMs < LOG_INTERVAL_MS) return;
    loggedMs = nowMs;
    const seconds = (nowMs - stepMs) / 1_000;
    const remaining = part > 0 ? { secondsLeft: Math.round((seconds / part) * (1 - part)) } : {};
    logger.warn({ step, percent: Math.floor(part * 100), ...remaining }, "converting the data folder");
  };
}
