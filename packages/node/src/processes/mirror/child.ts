/** Entry point of the mirror process that a node starts (`processes/node/mirror.ts`); it ends with the node. */

import { once } from "node:events";
import { serveUntilStopped } from "../../platform/lifecycle/process.ts";
import { openLog } from "../../platform/logging/logger.ts";
import { type MirrorConfig, startMirror } from "./mirror.ts";

/** The only message to the process. It contains secrets, which other users could read in arguments. */
export type ToMirror = MirrorConfig;

/** Sent regularly, as long as the event loop runs. */
export type FromMirror = {
  /** Height of the mirror; undefined before the first block of this process. */
  readonly height: number | undefined;
  /** The last copied event, and the number of gaps before it; undefined before the first session of this process. */
  readonly copy: { readonly sequence: number; readonly gaps: number } | undefined;
};

/** The log of the node, which starts this process with it. */
const LOG_DESCRIPTOR = 4;
const BEAT_MS = 1_000;
const FLUSH_TIMEOUT_MS = 1_000;

process.once("message", (config: ToMirror) => void run(config));
const disconnected = once(process, "disconnect");
// The node ends it: Ctrl-C and systemd signal all processes of the node.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});

async function run(config: ToMirror): Promise<void> {
  const log = openLog(config.logLevel, config.logFormat, LOG_DESCRIPTOR);
  const logger = log.logger.child({ process: "mirror" });
  let height: number | undefined;
  let copy: FromMirror["copy"];
  const beat = () => process.send?.({ height, copy } satisfies FromMirror, undefined, {}, () => {});
  setInterval(beat, BEAT_MS).unref();
  let code = 0;
  try {
    await serveUntilStopped({
      log: { ...log, logger },
      stopped: disconnected,
      start: (stopping) =>
        startMirror(config, logger, stopping, {
          onHeight(reached) {
            height = reached;
          },
          onCopied({ sequence, gaps }) {
            copy = { sequence, gaps };
          },
        }),
    });
  } catch (err) {
    logger.error({ err }, "the mirror ended");
    await log.flushed(FLUSH_TIMEOUT_MS);
    code = 1;
  }
  process.exit(code);
}
