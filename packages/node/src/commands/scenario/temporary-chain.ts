/** A dev chain for one run, in a data folder that is removed with it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Target } from "@uniknode/client/testing";
import { devOptions } from "../../config/options.ts";
import { resolveConfig } from "../../config/resolve.ts";
import { shownVersions } from "../../platform/lifecycle/version.ts";
import { openLog } from "../../platform/logging/logger.ts";
import { type ServingThread, withServingThread } from "../../processes/serving/thread.ts";

/** Calls `work` with a new dev chain on a free port, and removes the chain in any case. */
export async function withTemporaryChain<Result>(work: (target: Target) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-scenario-"));
  try {
    return await withServingThread((thread) => serveChain(folder, thread, work));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function serveChain<Result>(
  folder: string,
  thread: ServingThread,
  work: (target: Target) => Promise<Result>,
): Promise<Result> {
  // A whole node is loaded only if a chain is started.
  const { forgeDevBlocks, startDevChain } = await import("../../processes/dev/dev.ts");
  // Blocks on demand: the chain has the same height whenever a scenario begins.
  const flags = { data: folder, httpHost: "127.0.0.1", httpPort: "0", instant: true, logLevel: "error" };
  const node = await startDevChain(resolveConfig(devOptions, { flags, environment: {} }), {
    servingThread: thread,
    versions: shownVersions(),
    commandLine: (...args) => args.join(" "),
    screen: { print: () => {}, status: () => {} },
    log: openLog("error", "auto"),
  });
  try {
    await forgeDevBlocks(node);
    return await Promise.race([work({ url: node.url, token: node.webhookToken }), node.failed]);
  } finally {
    await node.stop();
  }
}
