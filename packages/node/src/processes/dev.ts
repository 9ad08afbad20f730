/** Runs a dev chain until it is stopped: an ordinary node, with a network and keys derived from a mnemonic. */
import { spawn } from "node:child_process";
import { join, resolve } from "node:path";
import { blockToJson, createNetwork } from "@uniknode/protocol";
import { connectionOptions } from "../config/connection.ts";
import { feedBlocksOf } from "../config/mirror.ts";
import { devOptions } from "../config/options.ts";
import { toPeersOptions } from "../config/peers.ts";
import { toPoolOptions } from "../config/pool.ts";
import { type Config, type ShownOption, type Sources, shownOptions } from "../config/resolve.ts";
import { type CreateDev, createDevCommands } from "../dev-chain/commands.ts";
import { CLOCK_FILE, checkShape, claimFolder, DevClock, REMEDY, resetFolder } from "../dev-chain/folder.ts";
import { deriveAccounts } from "../dev-chain/keys.ts";
import { type Cast, castOf, DEV_ADDRESS_VERSION, devGenesis } from "../dev-chain/network.ts";
import { blockLine, revertLine, showAccounts, startScreen } from "../dev-chain/screen.ts";
import { earliestStart, SETUP_HEIGHT, setupBlocks } from "../dev-chain/setup.ts";
import { type Delegates, openDelegates, secretsOf } from "../forger/delegates.ts";
import { soloTiming } from "../forger/slot-state.ts";
import { serveUntilStopped } from "../platform/lifecycle/process.ts";
import { commandLine, shownVersions } from "../platform/lifecycle/program.ts";
import { type Log, openLog } from "../platform/logging/logger.ts";
import { canRewriteLines, openOutput, STANDARD_OUTPUT, StatusLine } from "../platform/logging/output.ts";
import { dataErrorOf } from "../store/engine/data-error.ts";
import { type Node, startNode } from "./node/node.ts";
import type { NodeDeps, NodeOptions } from "./node/node-options.ts";
import type { ServingThread } from "./serving/thread.ts";

/** Returns the program that opens a URL on the desktop; undefined if there is no desktop, or the terminal is on another machine. */
export function openerOf(
  platform: NodeJS.Platform,
  { DISPLAY, WAYLAND_DISPLAY, SSH_CONNECTION }: NodeJS.ProcessEnv,
): string | undefined {
  if (SSH_CONNECTION) return undefined;
  if (platform === "darwin") return "open";
  return platform === "linux" && (DISPLAY || WAYLAND_DISPLAY) ? "xdg-open" : undefined;
}

function openBrowser(url: string | undefined): void {
  const opener = openerOf(process.platform, process.env);
  if (opener === undefined || url === undefined) return;
  // Without the program, the printed link remains.
  spawn(opener, [url], { detached: true, stdio: "ignore" })
    .on("error", () => {})
    .unref();
}

/** Timeout for writing the last lines, in case the reader is blocked. */
const OUTPUT_TIMEOUT_MS = 1_000;

/** Resolves when the chain has stopped. */
export async function runDevChain(
  config: Config<typeof devOptions>,
  { sources, servingThread }: { readonly sources: Sources; readonly servingThread: ServingThread },
): Promise<void> {
  const output = openOutput();
  const screen = new StatusLine(output, canRewriteLines(STANDARD_OUTPUT) ? process.stdout : undefined);
  const log = openLog(config.logLevel, config.logFormat);
  await serveUntilStopped({
    log,
    async start() {
      const node = await startDevChain(config, {
        versions: shownVersions(),
        shownOptions: shownOptions(devOptions, sources),
        commandLine: (...args) => commandLine(process.env, ...args),
        screen,
        log,
        servingThread,
      });
      if (!config.noOpen && process.stdout.isTTY) openBrowser(node.consoleUrl);
      return node;
    },
    whileServing: forgeDevBlocks,
    onStopping() {
      screen.end();
      screen.print("\nStopping ... (press Ctrl-C again to stop immediately)");
    },
  });
  screen.print("Stopped.");
  await output.flushed(OUTPUT_TIMEOUT_MS);
}

type DevEnvironment = {
  /** Versions of protocol and program, as readable text. */
  readonly versions: string;
  /** See `NodeDeps`. */
  readonly shownOptions?: ShownOption[];
  /** Returns the command line of another command of this program. */
  readonly commandLine: (...args: readonly string[]) => string;
  readonly screen: StatusLine;
  readonly log: Pick<Log, "logger" | "lost">;
} & Pick<NodeDeps, "servingThread">;

/**
 * Starts a new dev chain, or continues the chain in the data folder. `forgeDevBlocks` starts its forger.
 *
 * @throws {ConfigError} if the folder contains a chain with other options, or other files
 * @throws {DataError} if a file of the folder cannot be used
 */
async function startDevChain(config: Config<typeof devOptions>, environment: DevEnvironment): Promise<Node> {
  const data = resolve(config.data);
  try {
    return await start({ ...config, data }, environment);
  } catch (error) {
    throw dataErrorOf(error, join(data, "node.sqlite"), REMEDY);
  }
}

/** Starts to forge, after a search for peers if the chain has any. */
async function forgeDevBlocks(node: Node): Promise<void> {
  await node.join();
  node.startForging();
}

type DevConfig = Config<typeof devOptions>;

async function start(config: DevConfig, environment: DevEnvironment): Promise<Node> {
  const { data, mnemonic, accounts, blockTime } = config;
  const { screen } = environment;
  const cast = castOf(deriveAccounts(mnemonic, DEV_ADDRESS_VERSION), accounts);
  const secrets = [...castSecrets(cast), ...secretsOf(config)];
  const delegates = await openDelegates(secrets, config.forgerPassword);
  if (config.reset) resetFolder(data);
  const shape = { mnemonic, accounts, blockTime };
  checkShape(data, shape);

  const clock = new DevClock(join(data, CLOCK_FILE));
  const { block, files } = devGenesis(cast, blockTime);
  const network = createNetwork(files);
  const { mnemonic: _, ...devAccounts } = showAccounts({ cast, mnemonic, balanceOf: () => undefined });
  const node = await startNode(toNodeOptions(config, delegates, files.network.name), {
    files,
    genesis: block,
    genesisBlock: blockToJson(block),
    nowMs: () => clock.nowMs(),
    logger: environment.log.logger,
    lostLogLines: () => environment.log.lost(),
    shownOptions: environment.shownOptions ?? [],
    claimFolder: () => claimFolder(data, shape, files.network.nethash),
    createDev: createDevOn(clock, screen),
    devAccounts,
    servingThread: environment.servingThread,
  });
  try {
    const head = node.head();
    clock.moveTo(earliestStart(network, head));
    for (const setup of setupBlocks(network, cast, head, clock.nowMs())) await node.accept(setup);
    showStart(config, environment, { node, cast, isContinued: head.height >= SETUP_HEIGHT });
    const names = forgerNames(cast, delegates);
    node.onBlock((header) => screen.status(blockLine(header, names.get(header.generatorPublicKey))));
  } catch (error) {
    await node.stop();
    throw error;
  }
  return node;
}

const toNodeOptions = (config: DevConfig, delegates: Delegates, networkName: string): NodeOptions => ({
  ...config,
  feedBlocks: feedBlocksOf(config),
  assumeValid: undefined,
  delegates,
  peers: config.p2pPort === undefined ? undefined : toPeersOptions(config, networkName),
  pool: toPoolOptions(config),
  // The keys are public: the record in the data folder suffices, and --reset removes it with the data.
  signingRecord: undefined,
  watchRounds: undefined,
  timing: soloTiming,
  isOnDemand: config.instant,
});

/** Creates the dev commands of a node, which also prints every revert. */
const createDevOn =
  (clock: DevClock, screen: DevEnvironment["screen"]): CreateDev =>
  (parts) => {
    parts.chain.subscribe(({ revertedBlocks, head, applied }) => {
      if (revertedBlocks > 0) screen.print(revertLine(revertedBlocks, head.height - applied.length));
    });
    return createDevCommands(parts, clock);
  };

type Started = { readonly node: Node; readonly cast: Cast; readonly isContinued: boolean };

function showStart(
  config: DevConfig,
  { versions, commandLine, screen }: DevEnvironment,
  { node, cast, isContinued }: Started,
): void {
  const { data } = config;
  const { webhookToken, consoleUrl, url: baseUrl } = node;
  const at = baseUrl === connectionOptions.url.default ? [] : ["--url", baseUrl];
  // These commands use the default folder if none is given.
  const where = data === resolve(devOptions.data.default) ? [] : ["--data", data];
  // A token from the options is not in the data folder.
  const isTokenKept = config.webhookToken === undefined;
  const listenToken = isTokenKept ? where : ["--token", "TOKEN"];
  const commands = {
    token: isTokenKept ? commandLine("token", ...where) : undefined,
    accounts: commandLine("accounts", ...where),
    listen: commandLine("listen", ...listenToken, "--event", "block.*", ...at),
  };
  const { height } = node.head();
  const balanceOf = (address: string) => node.balanceOf(address);
  const known = { versions, baseUrl, consoleUrl, webhookToken, commands, data, cast, balanceOf };
  screen.print(startScreen({ ...known, isContinued, height }));
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
