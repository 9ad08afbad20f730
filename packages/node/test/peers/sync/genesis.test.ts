/** The genesis block from other nodes. */
import { blockToJson } from "@uniknode/protocol";
import { afterEach, expect, test } from "vitest";
import { fetchGenesis } from "../../../src/peers/sync/genesis.ts";
import type { PeerServer } from "../../../src/peers/transport/server.ts";
import { openTestChain, statusOn } from "../../../test-support/peers/chains.ts";
import { testNetwork } from "../../../test-support/peers/test-network.ts";
import { startServer } from "../transport/server.ts";

const { files, block } = testNetwork({ nodes: 4, blocktime: 8 });
const genesis = JSON.parse(JSON.stringify(blockToJson(block))) as Record<string, unknown>;
const servers: PeerServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** A node at an address, and the events that it received. */
async function node(
  host: string,
  port: number,
  setting: { given?: object; isOld?: boolean; peers?: string[] },
) {
  const { chain, close } = openTestChain();
  const status = statusOn(chain);
  const { uniknode: _, ...oldConfig } = status.config;
  await close();
  const requested: string[] = [];
  const started = await startServer({
    host,
    port,
    handle: async ({ event }) => {
      requested.push(event);
      if (event === "p2p.peer.getStatus") return setting.isOld ? { ...status, config: oldConfig } : status;
      if (event === "p2p.peer.getPeers") return (setting.peers ?? []).map((ip) => ({ ip }));
      return { genesisBlock: (setting.given ?? genesis) as Record<string, unknown> };
    },
  });
  servers.push(started.server);
  return { port: started.port, requested };
}

const search = (port: number, ...seeds: string[]) =>
  fetchGenesis({ port, localAddress: undefined, seeds }, files);

test("A Uniknode sends the genesis block.", async () => {
  const { port } = await node("127.0.0.2", 0, {});
  expect(await search(port, "127.0.0.2")).toEqual(genesis);
});

test("An old node receives only requests for its peers.", async () => {
  const { port, requested } = await node("127.0.0.2", 0, { isOld: true, peers: ["127.0.0.3"] });
  await node("127.0.0.3", port, {});
  expect(await search(port, "127.0.0.2")).toEqual(genesis);
  expect(requested).toEqual(["p2p.peer.getStatus", "p2p.peer.getPeers"]);
});

test("A genesis block that does not match the nethash is rejected.", async () => {
  const [first, ...rest] = genesis.transactions as Record<string, unknown>[];
  const altered = { ...genesis, transactions: [{ ...first, amount: "1" }, ...rest] };
  const { port } = await node("127.0.0.2", 0, { given: altered });
  expect(await search(port, "127.0.0.2")).toBeUndefined();
});

test("Without replies, the result is undefined.", async () => {
  expect(await search(1, "127.0.0.2")).toBeUndefined();
});
