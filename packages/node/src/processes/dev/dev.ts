/** Starting of the dev chain: the same node as any other, with a network and keys made from a mnemonic. */
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { blockToJson, createNetwork } from "@uniknode/protocol";
import type { devOptions } from "../../config/options.ts";
import { toPeersOptions } from "../../config/peers.ts";
import { toPoolOptions } from "../../config/pool.ts";
import type { Config } from "../../config/resolve.ts";
import { openClock } from "../../dev-chain/clock.ts";
import { devGenesis } from "../../dev-chain/genesis.ts";
import { deriveAccounts } from "../../dev-chain/keys.ts";
import { type Cast, castOf, DEV_ADDRESS_VERSION } from "../../dev-chain/network.ts";
import { blockLine, revertLine, startScreen } from "../../dev-chain/screen.ts";
import { setupBlocks } from "../../dev-chain/setup.ts";
import { type CreateDev, createVerbs } from "../../dev-chain/verbs.ts";
import { type Delegates, openDelegates, secretsOf } from "../../forger/delegates.ts";
import { soloTiming } from "../../forger/timing.ts";
import { ConfigError } from "../../platform/config-error.ts";
import { writeWholeFile } from "../../platform/files/whole-file.ts";
import { readJsonObject } from "../../platform/json/json-file.ts";
import type { Served } from "../../platform/lifecycle/process.ts";
import type { Log } from "../../platform/logging/logger.ts";
import { FOLDER_MODE } from "../../store/engine/folder-lock.ts";
import { startNode } from "../node/node.ts";

export type DevEnvironment = {
  readonly version: string;
  /** Writes a text for the user. */
  readonly print: (text: string) => void;
  readonly log: Pick<Log, "logger" | "lost">;
};

/** Shape of the chain in a data folder: options that cannot change while it lives. */
type Shape = { mnemonic: string; accounts: number; blockTime: number };

/** File with the options of the dev chain; its presence also shows that the folder may be reset. */
const SHAPE_FILE = "dev-chain.json";
const CLOCK_FILE = "dev-clock.json";

/**
 * Starts a new dev chain, or continues the one in the data folder.
 *
 * @throws {ConfigError} when the folder holds a chain of another shape, or something else
 */
export async function startDevChain(
  config: Config<typeof devOptions>,
  { version, print, log }: DevEnvironment,
): Promise<Served> {
  const { mnemonic, accounts, blockTime } = config;
  const cast = castOf(deriveAccounts(mnemonic, DEV_ADDRESS_VERSION), accounts);
  const secrets = [...castSecrets(cast), ...secretsOf(config)];
  const delegates = await openDelegates(secrets, config.forgerPassword);
  const data = resolve(config.data);
  if (config.reset) resetFolder(data);
  const isContinued = claimFolder(data, { mnemonic, accounts, blockTime });

  const clock = openClock(join(data, CLOCK_FILE));
  const createDev: CreateDev = (parts) => {
    parts.chain.subscribe(({ revertedBlocks, head, applied }) => {
      if (revertedBlocks > 0) print(revertLine(revertedBlocks, head.height - applied.length));
    });
    return createVerbs(parts, clock);
  };

  const { block, files } = devGenesis(cast, blockTime);
  const node = await startNode(
    {
      ...config,
      data,
      delegates,
      peers: config.p2pPort === undefined ? undefined : toPeersOptions(config, files.network.name),
      pool: toPoolOptions(config),
      // Its keys are public: the record in the data folder is enough, and is removed with it on --reset.
      signingRecord: undefined,
      watchRounds: undefined,
      timing: soloTiming,
      isOnDemand: config.instant,
    },
    {
      files,
      genesis: block,
      genesisBlock: blockToJson(block),
      nowMs: clock.nowMs,
      logger: log.logger,
      lostLogLines: log.lost,
      createDev,
    },
  );
  const network = createNetwork(files);
  for (const setup of setupBlocks(network, cast, node.head(), clock.nowMs())) await node.accept(setup);
  print(
    startScreen({
      version,
      baseUrl: node.url,
      webhookToken: node.webhookToken,
      dataDir: data,
      mnemonic,
      cast,
      balanceOf: node.balanceOf,
      isContinued,
      height: node.head().height,
    }),
  );
  const names = forgerNames(cast, delegates);
  node.onBlock((header) => print(blockLine(header, names.get(header.generatorPublicKey))));
  await node.join();
  node.startForging();
  return node;
}

const castSecrets = ({ founders, delegates }: Cast): string[] => [
  ...founders.map(({ passphrase }) => passphrase),
  ...delegates.map(({ account }) => account.passphrase),
];

function forgerNames({ founders, delegates }: Cast, keys: Delegates): Map<string, string> {
  return new Map([
    ...[...keys.keys()].map((publicKey): [string, string] => [publicKey, `delegate ${publicKey}`]),
    ...founders.map(({ publicKey }, index): [string, string] => [publicKey, `founder ${index}`]),
    ...delegates.map(({ account }, index): [string, string] => [account.publicKey, `delegate ${index}`]),
  ]);
}

/** Deletes a dev chain. Nothing else is ever deleted: the folder must be one. */
function resetFolder(folder: string): void {
  if (!existsSync(folder)) return;
  if (!existsSync(join(folder, SHAPE_FILE))) {
    throw new ConfigError(
      `--reset: ${folder} holds no dev chain and is left as it is; choose another with --data`,
    );
  }
  for (const file of [SHAPE_FILE, ...DATA_FILES]) rmSync(join(folder, file), { force: true });
}

const DATA_FILES = [CLOCK_FILE, "lock.sqlite", "node.sqlite", "node.sqlite-wal", "node.sqlite-shm"];

/** @throws {ConfigError} when the file is empty or damaged */
function readShape(path: string): Partial<Shape> {
  try {
    return readJsonObject(path, "the description of the dev chain");
  } catch (error) {
    throw new ConfigError(
      `${(error as Error).message}; start over with --reset, or choose another folder with --data`,
    );
  }
}

/** Whether the folder held a chain already, which must have the same shape. */
function claimFolder(folder: string, shape: Shape): boolean {
  const path = join(folder, SHAPE_FILE);
  if (!existsSync(path)) {
    mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
    writeWholeFile(path, `${JSON.stringify(shape, null, 2)}\n`);
    return false;
  }
  const known = readShape(path);
  const changed = (["mnemonic", "accounts", "blockTime"] as const).filter(
    (name) => known[name] !== shape[name],
  );
  if (changed.length > 0) {
    throw new ConfigError(
      `the dev chain in ${folder} was started with other values of ${changed.join(" and ")}; give these again, ` +
        "start over with --reset, or choose another folder with --data",
    );
  }
  return existsSync(join(folder, "node.sqlite"));
}
