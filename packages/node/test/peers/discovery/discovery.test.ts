/** Candidates, rounds of discovery, lost peers and bans (p2p.md 10.3 and 10.6). */
import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { pino } from "pino";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Candidates, type DialOptions, type Ping } from "../../../src/peers/discovery/candidates.ts";
import { Discovery, probePorts } from "../../../src/peers/discovery/discovery.ts";
import { Bans } from "../../../src/peers/guards/refusals.ts";
import { dropUnresponsive, Reconnect } from "../../../src/peers/lifecycle.ts";
import { type Peer, PeerTable, peerInfo, sample } from "../../../src/peers/peer-table.ts";
import { PeerError, type PeerErrorCode } from "../../../src/peers/transport/calls.ts";
import type { PeerClient } from "../../../src/peers/transport/client.ts";
import { present } from "../../../src/platform/present.ts";
import type { PeerStore } from "../../../src/store/node/peers.ts";

const logger = pino({ level: "silent" });
const peerAt = (ip: string, plugins = {}): Peer =>
  ({
    ip,
    height: 7,
    latencyMs: 3.4,
    ports: {},
    status: { config: { version: "5.7.2", plugins } },
    verification: { myHeight: 7, hisHeight: 7, highestCommonHeight: 7 },
  }) as unknown as Peer;

function world(
  options: {
    fails?: string[];
    unready?: string[];
    banned?: string[];
    allowsLoopback?: boolean;
    isDisabled?: boolean;
    stalling?: string[];
    perSubnet?: number;
  } = {},
) {
  const events: string[] = [];
  const pinged: string[] = [];
  const peerTable = new PeerTable(({ ip }, change) => events.push(`${change} ${ip}`));
  const candidates = new Candidates(
    {
      isDisabled: options.isDisabled ?? false,
      maxPeersPerSubnet: options.perSubnet ?? 2,
      loopback: options.allowsLoopback ? { own: "127.0.0.2" } : undefined,
    },
    {
      peerTable,
      async ping(ip) {
        pinged.push(ip);
        if (options.stalling?.includes(ip)) await new Promise(() => {});
        if (options.unready?.includes(ip)) throw new PeerError("PEER_REFUSED", "App is not ready.");
        if (options.fails?.includes(ip)) throw new Error("no");
        peerTable.put(peerAt(ip));
      },
      isBanned: (ip) => options.banned?.includes(ip) ?? false,
      disconnect: () => {},
      logger,
    },
  );
  return { events, pinged, peerTable, candidates };
}

test("Candidates are compared with hundreds of peers at little cost.", () => {
  const { candidates, peerTable } = world();
  for (let index = 0; index < 450; index++) peerTable.put(peerAt(`2001:db8:${index.toString(16)}::1`));
  const before = process.cpuUsage();
  for (let index = 0; index < 400; index++) void candidates.dial(`2001:db8:ff${index}::1`);
  const { user, system } = process.cpuUsage(before);
  // It was 3 s; the pings that are started are included.
  expect((user + system) / 1000).toBeLessThan(1_500);
});

describe("a candidate", () => {
  test("A candidate becomes a peer under its normalized address, once.", async () => {
    const { candidates, events, pinged } = world();
    const submitted = ["::ffff:203.0.113.7", "203.0.113.7"].map((address) => candidates.dial(address));
    expect(await Promise.all(submitted)).toEqual([true, true]);
    expect(await candidates.dial("203.0.113.7")).toBe(true);
    expect(pinged).toEqual(["203.0.113.7"]);
    expect(events).toEqual(["added 203.0.113.7"]);
  });

  test("A candidate is refused beyond the limit of its subnet, unless it is a seed.", async () => {
    const { candidates } = world();
    for (const last of [1, 2]) expect(await candidates.dial(`203.0.113.${last}`)).toBe(true);
    expect(await candidates.dial("203.0.113.3")).toBe(false);
    expect(await candidates.dial("203.0.113.3", { isSeed: true })).toBe(true);
    expect(await candidates.dial("203.0.114.1")).toBe(true);
  });

  test("A candidate of IPv6 counts in its /64 and its /48, whatever its last bytes are.", async () => {
    const { candidates } = world();
    const peers = async (addresses: string[]) => {
      const results = await Promise.all(addresses.map((address) => candidates.dial(address)));
      return results.filter((isPeer) => isPeer).length;
    };
    const network = Array.from({ length: 9 }, (_, index) => `2001:db8:1:1::${index}:0:1`);
    const site = Array.from({ length: 9 }, (_, index) => `2001:db8:1:${index + 2}::1`);
    expect(await peers(network)).toBe(2);
    expect(await peers(site)).toBe(2);
    expect(await peers(["2001:db8:2::1"])).toBe(1);
  });

  test("A candidate is refused beyond 500 peers, unless it is a seed.", async () => {
    const { candidates, peerTable } = world();
    for (let index = 0; index < 500; index++) peerTable.put(peerAt(`10.${index >> 8}.${index & 255}.1`));
    expect(await candidates.dial("203.0.113.1")).toBe(false);
    expect(await candidates.dial("203.0.113.1", { isSeed: true })).toBe(true);
  });

  test("A candidate of one site is dialled at most twenty times in ten seconds.", async () => {
    const addresses = Array.from({ length: 30 }, (_, index) => `2001:db8:1:${index}::1`);
    const { candidates, pinged } = world({ fails: addresses, perSubnet: 50 });
    for (const address of addresses) await candidates.dial(address);
    expect(pinged).toHaveLength(20);
  });

  test.each<[string, DialOptions]>([
    ["callers", {}],
    ["seeds", { isSeed: true }],
    ["lost peers", { isLost: true }],
  ])("A candidate is dialled while 64 %s stall, unless it is one of them.", async (_, options) => {
    const stalling = Array.from({ length: 65 }, (_, index) => `10.0.${index}.1`);
    const { candidates, pinged } = world({ stalling });
    for (const address of stalling) void candidates.dial(address, options);
    expect(pinged).toHaveLength(64);
    for (const [index, kind] of [{}, { isSeed: true }, { isLost: true }].entries()) {
      const isSame = Object.keys(kind).join() === Object.keys(options).join();
      expect(await candidates.dial(`203.0.113.${index}`, kind)).toBe(!isSame);
    }
  });

  test("A candidate that has failed is dialled again at once when a connection to it has opened.", async () => {
    const { candidates, pinged } = world({ fails: ["203.0.113.1"] });
    for (let count = 0; count < 3; count++) await candidates.dial("203.0.113.1");
    expect(pinged).toHaveLength(1);
    await candidates.dial("203.0.113.1", { isConnected: true });
    expect(pinged).toHaveLength(2);
  });

  test("A candidate that is not ready yet is dialled again after a second.", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { candidates, pinged } = world({ unready: ["203.0.113.1"] });
    for (let count = 0; count < 3; count++) await candidates.dial("203.0.113.1");
    expect(pinged).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1_000);
    await candidates.dial("203.0.113.1");
    expect(pinged).toHaveLength(2);
  });

  test("A candidate that failed is not dialled again at once, unless it is a seed.", async () => {
    const { candidates, pinged } = world({ fails: ["203.0.113.1"] });
    for (let count = 0; count < 3; count++) expect(await candidates.dial("203.0.113.1")).toBe(false);
    expect(pinged).toHaveLength(1);
    await candidates.dial("203.0.113.1", { isSeed: true });
    expect(pinged).toHaveLength(2);
  });

  test.each(["127.0.0.1", "::1", "0.0.0.0", "example.org", "203.0.113.9"])(
    "%s is refused",
    async (address) => {
      expect(await world({ banned: ["203.0.113.9"] }).candidates.dial(address)).toBe(false);
    },
  );

  test("A candidate is refused while discovery is disabled, even as a seed.", async () => {
    const { candidates, pinged } = world({ isDisabled: true });
    expect(await candidates.dial("203.0.113.1", { isSeed: true })).toBe(false);
    expect(pinged).toEqual([]);
  });

  test("A candidate can have another loopback address if loopback is allowed.", async () => {
    const { candidates } = world({ allowsLoopback: true });
    expect(await candidates.dial("127.0.0.3")).toBe(true);
    expect(await candidates.dial("127.0.0.2")).toBe(false);
  });
});

test.each([
  [true, ["203.0.113.1", "203.0.113.2", "203.0.114.3"]],
  [false, ["203.0.113.1"]],
])("A first round that is open (%s) finds %j.", async (isOpen, found) => {
  const { peerTable, candidates, events } = world();
  const discovery = new Discovery(
    { seeds: ["203.0.113.1"], sources: [], minPeers: 1, isOpen },
    {
      peerTable,
      candidates,
      ping: async () => {},
      client: { request: async () => [{ ip: "203.0.114.3" }] } as unknown as PeerClient,
      store: { known: () => ["203.0.113.2"], saw: () => {} } as unknown as PeerStore,
      nowMs: Date.now,
      logger,
    },
  );
  await discovery.start();
  discovery.close();
  expect(events.sort()).toEqual(found.map((ip) => `added ${ip}`));
});

describe("a round of discovery", () => {
  const HOUR_MS = 3_600_000;

  /** Peers of a node, each of which announces others; `ping` is called for every candidate. */
  function rounds(
    peers: number,
    announced: (ip: string) => string[],
    {
      ping = async () => {},
      seeds = [],
      stalls = false,
    }: { ping?: Ping; seeds?: string[]; stalls?: boolean } = {},
  ) {
    const { peerTable, events } = world();
    for (let last = 1; last <= peers; last++) peerTable.put(peerAt(`203.0.113.${last}`));
    const requested: string[] = [];
    const submitted: string[] = [];
    const left: string[] = [];
    const discovery = new Discovery(
      { seeds, sources: [], minPeers: 1, isOpen: true },
      {
        peerTable,
        candidates: { dial: async (ip) => (stalls ? new Promise(() => {}) : submitted.push(ip) > 0) },
        ping,
        client: {
          async request(ip: string) {
            requested.push(ip);
            return announced(ip).map((other) => ({ ip: other }));
          },
          disconnect: (ip: string) => left.push(ip),
        } as unknown as PeerClient,
        store: { known: () => [], saw: () => {} } as unknown as PeerStore,
        nowMs: Date.now,
        logger,
      },
    );
    return { discovery, peerTable, events, requested, submitted, left };
  }
  const many = (count: number, net: string) => Array.from({ length: count }, (_, last) => `${net}.${last}`);

  test("A round of discovery requests the peers of eight peers, and uses fifty addresses of each.", async () => {
    const { discovery, requested, submitted } = rounds(10, (ip) => many(60, `198.51.${ip.split(".")[3]}`));
    await discovery.start();
    discovery.close();
    expect(new Set(requested).size).toBe(8);
    expect(requested).toHaveLength(8);
    const byPeer = Map.groupBy(submitted, (ip) => present(ip.split(".")[2]));
    expect([...byPeer.values()].map((ips) => new Set(ips).size)).toEqual(Array(8).fill(50));
  });

  test.each([
    ["fewer than three quarters of the announced addresses are peers", 14, true],
    ["three quarters of them are", 12, false],
  ])("A round after the first submits all announced addresses when %s.", async (_, announcedCount, looks) => {
    vi.useFakeTimers();
    const { discovery, submitted } = rounds(9, () => many(announcedCount, "198.51.100"));
    await discovery.start();
    submitted.length = 0;
    await vi.advanceTimersByTimeAsync(HOUR_MS);
    discovery.close();
    vi.useRealTimers();
    expect(new Set(submitted).size).toBe(looks ? announcedCount : 0);
  });

  test.each([
    ["if there are too few peers", 0, true],
    ["and not if there are enough", 1, false],
  ])("A round of discovery starts with the seeds %s.", async (_, peers, begins) => {
    vi.useFakeTimers();
    const { discovery, submitted } = rounds(peers, () => [], { seeds: ["198.51.100.1"] });
    await discovery.start();
    submitted.length = 0;
    await vi.advanceTimersByTimeAsync(HOUR_MS);
    discovery.close();
    vi.useRealTimers();
    expect(submitted.length > 0).toBe(begins);
  });

  test("A first round that stalls is awaited for ten seconds, and until there are enough peers.", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { discovery, peerTable } = rounds(0, () => [], { seeds: ["198.51.100.1"], stalls: true });
    let isStarted = false;
    void discovery.start().then(() => {
      isStarted = true;
    });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(isStarted).toBe(false);
    peerTable.put(peerAt("203.0.113.1"));
    await vi.advanceTimersByTimeAsync(9_999);
    expect(isStarted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(isStarted).toBe(true);
    discovery.close();
  });

  test("A round of discovery drops peers that fail, and reports it.", async () => {
    const { discovery, peerTable, events, left } = rounds(3, () => [], {
      async ping(ip, { isForced }) {
        expect(isForced).toBe(false);
        if (ip === "203.0.113.2") throw new Error("it does not reply");
      },
    });
    await discovery.start();
    discovery.close();
    expect(peerTable.all().map(({ ip }) => ip)).toEqual(["203.0.113.1", "203.0.113.3"]);
    expect(left).toEqual(["203.0.113.2"]);
    expect(events.at(-1)).toBe("removed 203.0.113.2");
  });
});

describe("a peer", () => {
  test.each<[PeerErrorCode, boolean]>([
    ["PEER_TIMEOUT", false],
    ["PEER_GONE", false],
    ["PEER_UNREACHABLE", false],
    ["PEER_PROTOCOL", false],
    ["PEER_REFUSED", true],
  ])("after %s stays: %s", async (code, stays) => {
    const { peerTable } = world();
    peerTable.put(peerAt("203.0.113.1"));
    const failing = { request: () => Promise.reject(new PeerError(code, "x")), disconnect: () => {} };
    const request = dropUnresponsive(failing as unknown as PeerClient, peerTable);
    const limits = { timeoutMs: 1, maxBytes: 1 };
    await expect(request("203.0.113.1", "p2p.peer.getPeers", {}, limits)).rejects.toThrow(PeerError);
    expect(peerTable.get("203.0.113.1") !== undefined).toBe(stays);
  });

  test("A peer that was lost is dialled again until it is a peer.", async () => {
    vi.useFakeTimers();
    const tried: string[] = [];
    const reconnect = new Reconnect(async (ip) => tried.push(ip) > 2);
    reconnect.add("203.0.113.1");
    await vi.advanceTimersByTimeAsync(600_000);
    reconnect.close();
    vi.useRealTimers();
    expect(tried).toHaveLength(3);
  });

  test("A peer shows the ports of its services that respond.", async () => {
    const server = createServer((_, response) => void response.end()).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    const { peerTable } = world();
    const plugins = {
      "@arkecosystem/core-api": { enabled: true, port },
      "@arkecosystem/core-webhooks": { enabled: true, port: 1 },
      "@arkecosystem/core-wallet-api": { enabled: false, port: 4040 },
    };
    peerTable.put(peerAt("127.0.0.1", plugins));
    await probePorts(peerTable.all(), peerTable);
    server.close();
    expect(peerInfo(present(peerTable.get("127.0.0.1")), 4001)).toEqual({
      ip: "127.0.0.1",
      port: 4001,
      ports: { "@arkecosystem/core-api": port, "@arkecosystem/core-webhooks": -1 },
      version: "5.7.2",
      height: 7,
      latency: 3,
    });
  });

  test.each([
    ["that closes at once", "", -1],
    ["with noise instead of a response", "\u0000noise\r\n\r\n", -1],
    ["with noise after its response", "HTTP/1.1 200 OK\r\n\r\nnoise\u0000", "open"],
    ["with another status", "HTTP/1.1 404 Not Found\r\n\r\n", -1],
  ])("A service %s affects nothing else.", async (_, response, shown) => {
    const server = createTcpServer((socket) => void socket.on("error", () => {}).end(response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const { peerTable } = world();
    peerTable.put(peerAt("127.0.0.1", { "@arkecosystem/core-api": { enabled: true, port } }));
    await probePorts(peerTable.all(), peerTable);
    const ports = { "@arkecosystem/core-api": shown === "open" ? port : -1 };
    expect(peerTable.get("127.0.0.1")).toMatchObject({ ports });
  });
});

test("A service that sends interim responses without an end is read as far as its first line.", async () => {
  const bytes = Buffer.from(`HTTP/1.1 103 Early Hints\r\n${"x: y\r\n".repeat(200)}\r\n`.repeat(50));
  let written = 0;
  const server = createTcpServer((socket) => {
    const write = () => {
      while (!socket.destroyed && socket.write(bytes));
    };
    socket
      .on("error", () => {})
      .on("close", () => {
        written = socket.bytesWritten;
      });
    socket.on("drain", write).resume();
    write();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const { peerTable } = world();
  peerTable.put(peerAt("127.0.0.1", { "@arkecosystem/core-api": { enabled: true, port } }));
  await probePorts(peerTable.all(), peerTable);
  expect(peerTable.get("127.0.0.1")).toMatchObject({ ports: { "@arkecosystem/core-api": -1 } });
  await expect.poll(() => written).toBeGreaterThan(0);
  // Buffers of the operating system are filled.
  expect(written).toBeLessThan(16_000_000);
});

test("A ban applies to every form of the address, and survives restarts.", () => {
  const banned: string[] = [];
  const rows: { ip: string; untilMs: number; reason: string }[] = [];
  let now = 1_000;
  const open = () =>
    new Bans({
      store: { bans: (nowMs) => rows.filter(({ untilMs }) => untilMs > nowMs), ban: (row) => rows.push(row) },
      nowMs: () => now,
      onBan: (ip) => banned.push(ip),
      logger,
    });
  open().ban("::ffff:203.0.113.7", "lies");
  expect(banned).toEqual(["203.0.113.7"]);
  const bans = open();
  expect(bans.isBanned("203.0.113.7") && bans.isBanned("::ffff:203.0.113.7")).toBe(true);
  expect(bans.isBanned("203.0.113.8")).toBe(false);
  now += 60 * 60_000;
  expect(bans.isBanned("203.0.113.7")).toBe(false);
});

test("A ban of an IPv6 address applies to its /64.", () => {
  const bans = new Bans({
    store: { bans: () => [], ban: () => {} },
    nowMs: () => 1_000,
    onBan: () => {},
    logger,
  });
  bans.ban("2001:db8:1:2::7", "lies");
  expect(bans.isBanned("2001:db8:1:2:3::8")).toBe(true);
  expect(bans.isBanned("2001:db8:1:3::7")).toBe(false);
  expect(bans.count()).toBe(1);
});

test("Beyond the maximum number of bans, the earliest ones end.", () => {
  const bans = new Bans({
    store: { bans: () => [], ban: () => {} },
    nowMs: () => 1_000,
    onBan: () => {},
    logger,
  });
  for (let index = 0; index <= 10_000; index++)
    bans.ban(`10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`, "lies");
  expect(bans.count()).toBe(10_000);
  expect(bans.isBanned("10.0.0.0")).toBe(false);
  expect(bans.isBanned("10.0.0.1")).toBe(true);
});

test("A sample has each item at most once.", () => {
  expect(sample([1, 2, 3], 5).sort()).toEqual([1, 2, 3]);
  expect(new Set(sample([1, 2, 3, 4, 5], 3)).size).toBe(3);
  expect(sample([], 3)).toEqual([]);
});
