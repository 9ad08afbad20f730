/** Runs a dev chain until it is stopped. */
import { devOptions } from "../../config/options.ts";
import { type Config, type Sources, shownOptions } from "../../config/resolve.ts";
import { serveUntilStopped } from "../../platform/lifecycle/process.ts";
import { commandLine, shownVersions } from "../../platform/lifecycle/program.ts";
import { openLog } from "../../platform/logging/logger.ts";
import { openScreen } from "../../platform/logging/output.ts";
import type { ServingThread } from "../serving/thread.ts";
import { forgeDevBlocks, startDevChain } from "./dev.ts";

/** Timeout for writing the last lines, in case the reader is blocked. */
const OUTPUT_TIMEOUT_MS = 1_000;

/** Settles when the chain has stopped. */
export async function runDevChain(
  config: Config<typeof devOptions>,
  { sources, servingThread }: { readonly sources: Sources; readonly servingThread: ServingThread },
): Promise<void> {
  const screen = openScreen();
  const log = openLog(config.logLevel, config.logFormat);
  await serveUntilStopped({
    log,
    start: () =>
      startDevChain(config, {
        versions: shownVersions(),
        shownOptions: shownOptions(devOptions, sources),
        commandLine: (...args) => commandLine(process.env, ...args),
        screen,
        log,
        servingThread,
      }),
    whileServing: forgeDevBlocks,
    onStopping() {
      screen.end();
      screen.print("\nStopping ... (press Ctrl-C again to stop immediately)");
    },
  });
  screen.print("Stopped.");
  await screen.flushed(OUTPUT_TIMEOUT_MS);
}
