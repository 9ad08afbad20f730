/**
 * Nodes within the process of a test, each with its own chain, at loopback addresses and with real sockets.
 */
import { pino } from "pino";
import { Peers } from "../../src/peers/peers.ts";
import type { PeersOptions } from "../../src/peers/peers-options.ts";
import type { Pool } from "../../src/pool/pool.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { migrate } from "../../src/store/engine/migrations.ts";
import { PeerStore } from "../../src/store/node/peers.ts";
import {
  network,
  openTestChain,
  rounds,
  slots,
  type TestChain,
  verifier,
} from "../../test-support/peers/chains.ts";
import { freePort } from "../../test-support/peers/world.ts";
import { openPoolBeside } from "../../test-support/pool/beside.ts";

/** Time of the clock of all nodes. */
export const CURRENT_SLOT = 1_000;

export type TestNode = {
  readonly host: string;
  readonly world: TestChain;
  readonly peers: Peers;
  readonly pool: Pool;
  /** Events of its peers and blocks, as texts. */
  readonly events: string[];
  /** Log lines, from warnings on. */
  readonly logged: Record<string, unknown>[];
};

export type TestNodes = {
  readonly port: number;
  /** Creates a node at an address without starting its peers. */
  open(host: string, seeds: readonly string[], options?: Partial<PeersOptions>): TestNode;
  /** Called at the end, before the nodes are closed. */
  onClose(close: () => unknown): void;
  close(): Promise<void>;
};

export async function createNodes(): Promise<TestNodes> {
  const port = await freePort();

  const closers: (() => unknown)[] = [];

  const open: TestNodes["open"] = (host, seeds, options = {}) => {
    const world = openTestChain();
    const { chain } = world;
    const database = openDatabase(":memory:");
    migrate(database);
    const nowMs = () => slots.unixMsOf(slots.slotTime(CURRENT_SLOT)) + 3_000;
    const now = () => slots.timeAt(nowMs());
    const pool = openPoolBeside(chain, {
      network,
      database,
      verify: (checks) => verifier.verify(checks),
      now,
    });
    chain.subscribe(({ applied }) => {
      for (const { block } of applied) pool.blockApplied(block.transactions, new Set());
    });
    const events: string[] = [];
    const logged: Record<string, unknown>[] = [];
    const peers = new Peers(
      {
        host,
        port,
        seeds,
        version: "5.7.2",
        discovery: "all",
        minPeers: 1,
        maxPeersPerSubnet: 50,
        p2pRateLimit: 100,
        remoteAccess: ["127.0.0.9"],
        sources: [],
        blacklist: [],
        allowsLoopback: true,
        ...options,
      },
      {
        network,
        slots,
        rounds,
        genesisBlock: { height: 1 },
        chain,
        verify: (checks) => verifier.verify(checks),
        store: new PeerStore(database),
        pool,
        plugins: () => ({ "@arkecosystem/core-api": { enabled: true, port: 4003 } }),
        isOwnDelegate: () => false,
        onPeer: ({ ip }, change) => events.push(`${change} ${ip}`),
        onBlock: ({ header }, change) => events.push(`${change} ${header.height}`),
        onForeignHeader: () => {},
        onStarted: () => events.push("started"),
        onForgerEvent: (name) => events.push(name),
        nowMs,
        logger: pino({ level: "warn" }, { write: (line: string) => void logged.push(JSON.parse(line)) }),
      },
    );
    closers.push(async () => {
      await peers.close();
      await pool.close();
      await world.close();
      database.close();
    });
    return { host, world, peers, pool, events, logged };
  };

  return {
    port,
    open,
    onClose: (close) => void closers.push(close),
    async close() {
      for (const close of closers.splice(0).reverse()) await close();
    },
  };
}
