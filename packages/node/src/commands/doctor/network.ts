/** Checks the network: ports, genesis block and peers. */
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer, isIPv6, Socket } from "node:net";
import { join } from "node:path";
import { createNetwork, createSlots, presets } from "@uniknode/protocol";
import { databaseOf } from "../../archive/database.ts";
import { storedNethash } from "../../chain/stores.ts";
import { fetchesGenesis, loadNetwork, type NetworkChoice } from "../../config/network.ts";
import { futureHeadText } from "../../forger/future-head.ts";
import { present } from "../../platform/present.ts";
import { lockHolderText, portHolder } from "../../store/engine/lock-holder.ts";
import { openReader } from "../../store/engine/migrations.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

const CONNECT_TIMEOUT_MS = 3_000;
/** Maximum number of seeds to try. */
const MAX_TRIED = 8;

/**
 * Checks whether a node can listen on the port.
 *
 * @param flag flag of the port's option
 * @param own ports of the node that is using the data folder
 */
export async function checkPort(
  name: string,
  host: string,
  port: number,
  flag: string,
  own: readonly number[] = [],
): Promise<Finding> {
  const server = createServer();
  try {
    const failed = once(server, "error").then(([error]) => Promise.reject(error));
    // It listens without a host, as for peers, because IPv6 may be disabled on the machine.
    server.listen(port, host === "::" ? undefined : host);
    await Promise.race([once(server, "listening"), failed]);
    return ok(name, `${port === 0 ? "any port" : `port ${port}`} of ${host} is free`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE" && own.includes(port))
      return ok(name, `this node is listening on port ${port} of ${host}`);
    return fail(
      name,
      `port ${port} of ${host} cannot be used: ${code}`,
      await remedyOf(host, port, flag, code),
    );
  } finally {
    server.close();
  }
}

async function remedyOf(host: string, port: number, flag: string, code = ""): Promise<string> {
  if (code === "EADDRINUSE") {
    const holder = portHolder(port);
    const isOther = holder !== undefined || (await isNode(host, port));
    const user = isOther ? `uniknode${lockHolderText(holder)} with another data folder` : "program";
    return `choose another port with ${flag}, or stop the ${user} that uses it`;
  }
  if (code === "EACCES") return `choose a port above 1023 with ${flag}`;
  return `${host} is not an address of this machine: choose another with ${flag.replace(/port$/, "host")}`;
}

/** Checks whether the chain of the data folder has a head to which this node could add a block now. */
export function checkHead(choice: NetworkChoice, data: string): Finding {
  const { network, networkDir } = choice;
  if (network === undefined && networkDir === undefined)
    return ok("head", "not checked: a dev chain has its own clock");
  if (!existsSync(join(data, "node.sqlite"))) return ok("head", `${data} has no chain yet`);
  try {
    const files = network === undefined ? loadNetwork(choice).files : present(presets[network], network);
    const path = databaseOf(data);
    const stored = storedNethash(path);
    if (stored !== undefined && stored !== files.network.nethash) {
      const text = `${data} has the chain of another network (nethash ${stored}), not of ${files.network.name}`;
      return fail("head", text, "choose another folder with --data");
    }
    const head = headOf(path);
    const text = head && futureHeadText(head, Date.now(), createSlots(createNetwork(files)));
    if (text === undefined) return ok("head", head ? `block ${head.height}` : `${data} has no chain yet`);
    return fail(
      "head",
      text,
      'compare this clock with others (line "clock"); if it is right, see "The clock" in docs/guides/operations.md',
    );
  } catch (error) {
    return warn(
      "head",
      (error as Error).message,
      "see the checks of the genesis block and of the data folder",
    );
  }
}

function headOf(path: string): { readonly height: number; readonly timestamp: number } | undefined {
  const database = openReader(path, { acceptsOlder: true });
  try {
    return database
      .prepare<{ height: number; timestamp: number }>(
        "SELECT height, timestamp FROM blocks ORDER BY height DESC LIMIT 1",
      )
      .get();
  } finally {
    database.close();
  }
}

/** @param start options of `run` that decide whether the genesis block is fetched */
export function checkGenesis(
  choice: NetworkChoice,
  start: { readonly data: string; readonly alone: boolean },
): Finding {
  const { network, networkDir } = choice;
  if (network === undefined && networkDir === undefined) {
    return ok("genesis", "no network is selected: a dev chain creates its own");
  }
  if (fetchesGenesis(choice, start)) {
    return ok("genesis", `the first start fetches it from peers of ${network}`);
  }
  try {
    const { files } = loadNetwork(choice);
    return ok("genesis", `${files.network.name}, nethash ${files.network.nethash}`);
  } catch (error) {
    return fail("genesis", (error as Error).message, "see docs/guides/network.md");
  }
}

export async function checkPeers(seeds: readonly string[], port: number): Promise<Finding> {
  if (seeds.length === 0) return ok("peers", "not checked: no seed peers without a known network or --peers");
  const tried = seeds.slice(0, MAX_TRIED);
  const results = await Promise.all(tried.map((seed) => isReachable(seed, port)));
  const reached = results.filter((isReached) => isReached).length;
  const text = `${reached} of ${tried.length} accept connections at port ${port}`;
  if (reached === 0) {
    return fail("peers", text, `allow outgoing TCP to port ${port}, or give other nodes with --peers`);
  }
  return reached < tried.length ? warn("peers", text, "give more nodes with --peers") : ok("peers", text);
}

async function isNode(host: string, port: number): Promise<boolean> {
  const name = isIPv6(host) ? `[${host}]` : host;
  try {
    const signal = AbortSignal.timeout(CONNECT_TIMEOUT_MS);
    return (await fetch(`http://${name}:${port}/api/node/status`, { signal })).ok;
  } catch {
    return false;
  }
}

async function isReachable(host: string, port: number): Promise<boolean> {
  const socket = new Socket();
  try {
    socket.connect({ host, port });
    await once(socket, "connect", { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
