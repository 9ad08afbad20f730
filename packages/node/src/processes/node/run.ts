/** Runs a node of a Unikname network until it is stopped. */
import { resolve } from "node:path";
import { createNetwork } from "@uniknode/protocol";
import type { Logger } from "pino";
import { choosePin } from "../../config/assume-valid.ts";
import { shownOptions } from "../../config/display.ts";
import { genesisPath } from "../../config/genesis.ts";
import { feedBlocksOf } from "../../config/mirror.ts";
import { loadNetwork, type NetworkSource } from "../../config/network.ts";
import { runOptions } from "../../config/options.ts";
import { toPeersOptions } from "../../config/peers.ts";
import { toPoolOptions } from "../../config/pool.ts";
import { type Config, maskConfig, type Sources } from "../../config/resolve.ts";
import { chooseTimeServers } from "../../config/time.ts";
import { openDelegates, secretsOf } from "../../forger/delegates.ts";
import { networkTiming } from "../../forger/timing.ts";
import { checkClock } from "../../platform/clock/check.ts";
import { commandLine } from "../../platform/lifecycle/command-line.ts";
import { serveUntilStopped } from "../../platform/lifecycle/process.ts";
import { createSystemd } from "../../platform/lifecycle/systemd.ts";
import { openLog } from "../../platform/logging/logger.ts";
import { openOutput } from "../../platform/logging/output.ts";
import { selectBackend } from "../../verification/backend.ts";
import type { ServingThread } from "../serving/thread.ts";
import { type Node, startNode } from "./node.ts";
import type { NodeOptions } from "./options.ts";

type RunConfig = Config<typeof runOptions>;

/** Settles when the node has stopped. */
export async function runNode(
  config: RunConfig,
  { sources, servingThread }: { readonly sources: Sources; readonly servingThread: ServingThread },
): Promise<void> {
  const output = openOutput();
  const log = openLog(config.logLevel, config.logFormat);
  const { logger, lost: lostLogLines } = log;
  const stopping = new AbortController();
  let node: Node | undefined;
  const systemd = createSystemd({
    environment: process.env,
    isAlive: () => node?.isServing() ?? false,
    logger,
  });
  await serveUntilStopped({
    log,
    async start(stopped) {
      const network = loadNetwork({ ...config, genesis: await genesisPath(config, stopped) });
      node = await startNode(await toNodeOptions(config, network), {
        ...{ ...network, servingThread, logger, lostLogLines, nowMs: Date.now },
        shownOptions: shownOptions(runOptions, sources),
      });
      return node;
    },
    async whileServing(node) {
      await logStart(config, node.url, logger);
      output.write(`${node.url}\n`);
      void checkClock(chooseTimeServers(config), { nowMs: Date.now, signal: stopping.signal, logger });
      systemd.ready();
      await node.join();
      node.startForging();
    },
    onStopping() {
      stopping.abort();
      systemd.stopping();
    },
  });
}

async function toNodeOptions(config: RunConfig, { files }: NetworkSource): Promise<NodeOptions> {
  const delegates = await openDelegates(secretsOf(config), config.forgerPassword);
  return {
    ...config,
    feedBlocks: feedBlocksOf(config),
    delegates,
    assumeValid: choosePin(config.assumeValid, files.network, { forges: delegates.size > 0 }),
    peers: config.alone ? undefined : toPeersOptions(config, files.network.name),
    pool: toPoolOptions(config),
    // The default is next to the data folder.
    signingRecord: config.signingRecord ?? `${resolve(config.data)}.signing`,
    // Without peers, another forger could not be detected.
    watchRounds: config.alone ? undefined : config.watchRounds,
    timing: networkTiming(createNetwork(files).milestoneAt(1).blocktime),
    isOnDemand: false,
  };
}

/** Logs how signatures are verified, every option, and how to print a generated webhook token. */
async function logStart(config: RunConfig, url: string, logger: Logger): Promise<void> {
  const { name: signatures, refusal } = await selectBackend();
  const reason = refusal && { signaturesReason: refusal.message };
  logger.info({ url, signatures, ...reason, config: maskConfig(runOptions, config) }, "node started");
  const { webhooks, webhookToken } = config;
  if (webhooks === "off" || webhookToken !== undefined) return;
  const shownBy = commandLine(process.env, "token", "--data", resolve(config.data));
  logger.info({ shownBy }, "webhook token stored in the data folder");
}
