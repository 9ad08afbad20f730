/** Runs a node of a Unikname network until it is stopped. */
import { resolve } from "node:path";
import { createNetwork } from "@uniknode/protocol";
import { choosePin } from "../../config/assume-valid.ts";
import { genesisPath } from "../../config/genesis.ts";
import { loadNetwork } from "../../config/network.ts";
import { runOptions } from "../../config/options.ts";
import { toPeersOptions } from "../../config/peers.ts";
import { toPoolOptions } from "../../config/pool.ts";
import { type Config, maskConfig, type Sources } from "../../config/resolve.ts";
import { shownOptions } from "../../config/shown.ts";
import { chooseTimeServers } from "../../config/time.ts";
import { openDelegates, secretsOf } from "../../forger/delegates.ts";
import { networkTiming } from "../../forger/timing.ts";
import { checkClock } from "../../platform/clock/check.ts";
import { commandLine } from "../../platform/lifecycle/command-line.ts";
import { serveUntilStopped } from "../../platform/lifecycle/process.ts";
import { createSystemd, type Systemd } from "../../platform/lifecycle/systemd.ts";
import { openLog } from "../../platform/logging/logger.ts";
import { openOutput } from "../../platform/logging/output.ts";
import { chooseVerify } from "../../verification/choose-verify.ts";
import type { ServingThread } from "../serving/thread.ts";
import { startNode } from "./node.ts";
import type { NodeOptions } from "./options.ts";

/** Path of the signing record; by default next to the data folder. */
const signingRecordPath = ({ signingRecord, data }: { signingRecord: string | undefined; data: string }) =>
  signingRecord ?? `${resolve(data)}.signing`;

/** Settles when the node has stopped. */
export async function runNode(
  config: Config<typeof runOptions>,
  { sources, servingThread }: { readonly sources: Sources; readonly servingThread: ServingThread },
): Promise<void> {
  const network = loadNetwork({ ...config, genesis: await genesisPath(config) });
  const delegates = await openDelegates(secretsOf(config), config.forgerPassword);
  const options: NodeOptions = {
    ...config,
    delegates,
    assumeValid: choosePin(config.assumeValid, network.files.network, { forges: delegates.size > 0 }),
    peers: config.alone ? undefined : toPeersOptions(config, network.files.network.name),
    pool: toPoolOptions(config),
    signingRecord: signingRecordPath(config),
    // Without peers, another forger could not be detected.
    watchRounds: config.alone ? undefined : config.watchRounds,
    timing: networkTiming(createNetwork(network.files).milestoneAt(1).blocktime),
    isOnDemand: false,
  };
  const output = openOutput();
  const log = openLog(config.logLevel, config.logFormat);
  const { logger, lost } = log;
  const stopping = new AbortController();
  let systemd: Systemd | undefined;
  await serveUntilStopped({
    log,
    start: () =>
      startNode(options, {
        ...network,
        servingThread,
        logger,
        lostLogLines: lost,
        shownOptions: shownOptions(runOptions, sources),
        nowMs: Date.now,
      }),
    async whileServing(node) {
      const { name: signatures, refusal } = await chooseVerify(config.accelerator);
      const shownConfig = maskConfig(runOptions, config);
      const reason = refusal && { signaturesReason: refusal.message };
      logger.info({ url: node.url, signatures, ...reason, config: shownConfig }, "node started");
      if (
        config.webhooks === "on" &&
        config.webhookLegacy === undefined &&
        config.webhookToken === undefined
      ) {
        const shownBy = commandLine(process.env, "token", "--data", resolve(config.data));
        logger.info({ shownBy }, "webhook token stored in the data folder");
      }
      output.write(`${node.url}\n`);
      void checkClock(chooseTimeServers(config), { nowMs: Date.now, signal: stopping.signal, logger });
      const { env: environment } = process;
      systemd = createSystemd({ environment, isAlive: node.isServing, logger });
      systemd.ready();
      await node.join();
      node.startForging();
    },
    onStopping() {
      stopping.abort();
      systemd?.stopping();
    },
  });
}
