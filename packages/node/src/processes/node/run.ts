/** Runs a node of a network until it is stopped. Fetches the genesis block of a known network from peers if no file is given. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { createNetwork, presets } from "@uniknode/protocol";
import type { Logger } from "pino";
import { refuseOtherNetwork } from "../../chain/stores.ts";
import { choosePin } from "../../config/assume-valid.ts";
import { feedBlocksOf } from "../../config/mirror.ts";
import { fetchedGenesisIn, loadNetwork, type NetworkSource } from "../../config/network.ts";
import { chooseTimeServers, runOptions } from "../../config/options.ts";
import { toPeersOptions } from "../../config/peers.ts";
import { toPoolOptions } from "../../config/pool.ts";
import { type Config, maskConfig, type Sources, shownOptions } from "../../config/resolve.ts";
import { openDelegates, secretsOf } from "../../forger/delegates.ts";
import { networkTiming } from "../../forger/slot-state.ts";
import { localAddressOf } from "../../peers/peers-options.ts";
import { fetchGenesis } from "../../peers/sync/genesis.ts";
import { checkClock } from "../../platform/clock/clock-check.ts";
import { CodedError } from "../../platform/coded-error.ts";
import { writeWholeFile } from "../../platform/files/whole-file.ts";
import { serveUntilStopped } from "../../platform/lifecycle/process.ts";
import { commandLine } from "../../platform/lifecycle/program.ts";
import { Systemd } from "../../platform/lifecycle/systemd.ts";
import { openLog } from "../../platform/logging/logger.ts";
import { openOutput } from "../../platform/logging/output.ts";
import { present } from "../../platform/present.ts";
import { lockDataFolder } from "../../store/engine/folder-lock.ts";
import { selectBackend } from "../../verification/native.ts";
import type { ServingThread } from "../serving/thread.ts";
import { type Node, startNode } from "./node.ts";
import type { NodeOptions } from "./node-options.ts";

type RunConfig = Config<typeof runOptions>;

/** Resolves when the node has stopped. */
export async function runNode(
  config: RunConfig,
  { sources, servingThread }: { readonly sources: Sources; readonly servingThread: ServingThread },
): Promise<void> {
  const output = openOutput();
  const log = openLog(config.logLevel, config.logFormat);
  const { logger } = log;
  const stopping = new AbortController();
  let node: Node | undefined;
  const systemd = new Systemd({
    environment: process.env,
    isAlive: () => node?.isServing() ?? false,
    logger,
  });
  await serveUntilStopped({
    log,
    async start(stopped) {
      const network = loadNetwork({ ...config, genesis: await genesisPath(config, stopped) });
      node = await startNode(await toNodeOptions(config, network), {
        ...network,
        servingThread,
        logger,
        lostLogLines: () => log.lost(),
        nowMs: Date.now,
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

/**
 * Returns the path of the genesis file: the given file, the file that an earlier start stored in the data folder, or a new one that
 * is fetched from peers and stored there. Returns undefined if the chosen network needs none, or `alone` forbids peers.
 *
 * @throws {CodedError} GENESIS_UNAVAILABLE when no peer sends it
 * @throws {DataInUseError | ChainError} if the folder is in use or has the chain of another network
 * @throws the reason of `signal` when it is aborted meanwhile
 */
async function genesisPath(config: RunConfig, signal: AbortSignal): Promise<string | undefined> {
  const { network, genesis, networkDir, data, alone } = config;
  if (genesis !== undefined || network === undefined || networkDir !== undefined) return genesis;
  const path = fetchedGenesisIn(data);
  if (existsSync(path)) return path;
  if (alone) return undefined;
  const files = present(presets[network], network);
  const options = toPeersOptions(config, network);
  const json = await fetchGenesis({ ...options, localAddress: localAddressOf(options) }, files, signal);
  signal.throwIfAborted();
  if (!json) {
    // The network may not be there yet: a service must be started again.
    throw new CodedError(
      "GENESIS_UNAVAILABLE",
      `no peer sent the genesis block of ${network} (tried: ${options.seeds.join(", ") || "none"}): give --genesis FILE ` +
        `(its payloadHash is ${files.network.nethash}), or --peers with a Uniknode node`,
      { isRetryable: true },
    );
  }
  const lock = lockDataFolder(data);
  try {
    refuseOtherNetwork(join(data, "node.sqlite"), createNetwork(files));
    // Later starts use this file unchanged.
    writeWholeFile(path, JSON.stringify(json));
  } finally {
    lock.release();
  }
  return path;
}
