/** `uniknode doctor`: checks whether this machine can run a node, and prints remedies. */
import { Command } from "commander";
import { connectionOptions } from "../../config/connection.ts";
import { serveOptions } from "../../config/mirror.ts";
import { chooseTimeServers, devOptions, nodeOptions, runOptions } from "../../config/options.ts";
import { defaultPeerPort, toPeersOptions } from "../../config/peers.ts";
import type { Config } from "../../config/resolve.ts";
import { openDelegates, secretsOf } from "../../forger/delegates.ts";
import { CodedError } from "../../platform/coded-error.ts";
import { folderHolder } from "../../store/engine/folder-lock.ts";
import { show } from "../connection.ts";
import { withOptions } from "../flags.ts";
import { type Finding, fail, ok } from "./finding.ts";
import {
  checkDisk,
  checkFileLimit,
  checkFolder,
  checkMemory,
  checkRuntime,
  checkSignatures,
  checkTime,
} from "./machine.ts";
import { checkGenesis, checkHead, checkPeers, checkPort } from "./network.ts";

const options = {
  ...runOptions,
  data: {
    ...nodeOptions.data,
    sentence: `Data folder of the node; if not given, ${devOptions.data.default}, or ${runOptions.data.default} with a network.`,
  },
  databaseUrl: {
    ...serveOptions.databaseUrl,
    sentence:
      "Database of a mirror: postgres://user:password@host:port/database. If given, it is checked instead of the node.",
  },
  node: {
    ...serveOptions.node,
    sentence: "Base URLs of nodes, separated by commas, with whose heights the database is compared.",
  },
  json: connectionOptions.json,
};

export function doctorCommand(): Command {
  return withOptions(new Command("doctor"), options, async (config) => {
    const { databaseUrl, node } = config;
    const findings =
      databaseUrl === undefined ? await examine(config) : await examineDatabase(databaseUrl, node);
    show({ ...config, url: "", timeout: 0 }, findings, findings.flatMap(linesOf));
    const failed = findings.filter(({ state }) => state === "fail").map(({ name }) => name);
    if (failed.length > 0)
      throw new CodedError(
        "DOCTOR",
        `failed checks: ${failed.join(", ")}; the lines marked "fail" say what to do`,
        { isRetryable: false },
      );
  });
}

async function examine(config: Config<typeof options>): Promise<Finding[]> {
  const { network, networkDir, alone } = config;
  const isDev = network === undefined && networkDir === undefined;
  const data = config.data ?? (isDev ? devOptions : runOptions).data.default;
  const p2pPort = config.p2pPort ?? defaultPeerPort(network ?? "");
  const { seeds } = toPeersOptions(config, network ?? "");
  const hasPeers = !isDev && !alone;
  return [
    checkRuntime(),
    await checkSignatures(),
    await checkTime(chooseTimeServers(config)),
    checkMemory(),
    checkFileLimit(),
    checkFolder(data),
    checkDisk(data),
    ...(await checkPorts(config, p2pPort, data)),
    checkGenesis(config, { data, alone }),
    checkHead(config, data),
    await checkDelegates(config),
    ...(hasPeers ? [await checkPeers(seeds, p2pPort)] : []),
  ];
}

/** Checks a machine of mirrors and API servers. */
async function examineDatabase(url: string, nodes: readonly string[]): Promise<Finding[]> {
  // Only this check and the servers load the driver.
  const { checkDatabase } = await import("./database.ts");
  return [checkRuntime(), checkMemory(), checkFileLimit(), ...(await checkDatabase(url, nodes))];
}

type PortRow = readonly [name: string, host: string, port: number, flag: string];

/** Checks the ports of a start with these options. A dev chain listens for peers only if a port is given. */
async function checkPorts(config: Config<typeof options>, p2pPort: number, data: string): Promise<Finding[]> {
  const { httpHost, httpPort, operationsHost, operationsPort, p2pHost, network, networkDir, alone } = config;
  const isDev = network === undefined && networkDir === undefined;
  const hasPeers = isDev ? config.p2pPort !== undefined : !alone;
  const rows: PortRow[] = [["HTTP port", httpHost, httpPort, "--http-port"]];
  if (operationsPort !== undefined)
    rows.push(["operations", operationsHost, operationsPort, "--operations-port"]);
  if (hasPeers) rows.push(["peer port", p2pHost, p2pPort, "--p2p-port"]);
  const own = folderHolder(data)?.ports;
  return Promise.all(
    rows.map(async ([name, host, port, flag], index) => {
      const other = rows.slice(0, index).find((before) => meets(before, [host, port]));
      return other === undefined
        ? checkPort(name, host, port, flag, own)
        : fail(name, `port ${port} is already used as the ${other[0]}`, `choose another port with ${flag}`);
    }),
  );
}

/** Returns true if two listeners need the same port of one address. */
const meets = (
  [, host, port]: PortRow,
  [otherHost, otherPort]: readonly [host: string, port: number],
): boolean =>
  port !== 0 && port === otherPort && (host === otherHost || [host, otherHost].some(isEveryAddress));

const isEveryAddress = (host: string): boolean => host === "::" || host === "0.0.0.0";

const linesOf = ({ name, state, text, remedy }: Finding): string[] => [
  `${state.padEnd(6)}${name.padEnd(14)}${text}`,
  ...(remedy === undefined ? [] : [`${" ".repeat(20)}${remedy}`]),
];

async function checkDelegates(config: Config<typeof options>): Promise<Finding> {
  try {
    const { size } = await openDelegates(secretsOf(config), config.forgerPassword);
    return ok("delegates", size === 0 ? "no keys are given" : `read the keys of ${size} delegates`);
  } catch (error) {
    return fail("delegates", (error as Error).message, "see docs/guides/operations.md");
  }
}
