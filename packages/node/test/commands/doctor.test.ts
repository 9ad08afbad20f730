/** `uniknode doctor`: each check against real servers and files, passing and failing. */
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createNetwork, createSlots, livenet } from "@uniknode/protocol";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { checkFolder, checkTime } from "../../src/commands/doctor/machine.ts";
import { checkGenesis, checkHead, checkPeers, checkPort } from "../../src/commands/doctor/network.ts";
import type { NetworkChoice } from "../../src/config/network.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { migrate } from "../../src/store/engine/migrations.ts";
import { MetaStore } from "../../src/store/node/meta.ts";
import { replyOf, startTimeServer } from "../../test-support/platform/time-server.ts";
import { runMain } from "../../test-support/process/main.ts";
import { type Running, spawnUniknode } from "../../test-support/process/uniknode.ts";
import { createInventedBlocks } from "../../test-support/store/invented-blocks.ts";

const folder = mkdtempSync(join(tmpdir(), "uniknode-doctor-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const portOf = (server: Server): number => (server.address() as { port: number }).port;

async function listen(host = "127.0.0.1"): Promise<Server> {
  const server = createServer((socket) => socket.destroy()).listen(0, host);
  await once(server, "listening");
  return server;
}

describe("clock", () => {
  const compared = async (aheadMs: number) => {
    const { server, close } = await startTimeServer((request) => [replyOf(request, Date.now() + aheadMs)]);
    try {
      return { server, finding: await checkTime([server]) };
    } finally {
      close();
    }
  };

  test("A clock that agrees with a time server passes.", async () => {
    const { finding, server } = await compared(0);
    expect(finding).toMatchObject({ name: "clock", state: "ok" });
    expect(finding.text).toMatch(new RegExp(`^\\d+ ms (behind|ahead of) ${server}$`));
  });

  test.each([
    ["behind", 60_000],
    ["ahead of", -60_000],
  ])("A clock that is a minute %s the server fails.", async (side, aheadMs) => {
    const { finding } = await compared(aheadMs);
    expect(finding).toMatchObject({ state: "fail", remedy: expect.stringContaining("timedatectl") });
    expect(finding.text).toMatch(new RegExp(`^(59|60)\\d{3} ms ${side} 127`));
  });

  test("An unresponsive server is a warning with the reason, and the next one is queried.", async () => {
    // Not a DNS name: the reply arrives at once.
    const broken = "a..b";
    const right = await startTimeServer((request) => [replyOf(request, Date.now())]);
    try {
      expect(await checkTime([broken, right.server])).toMatchObject({ state: "ok" });
      const finding = await checkTime([broken]);
      expect(finding).toMatchObject({ state: "warn", remedy: expect.stringContaining("--time-servers") });
      expect(finding.text).toContain(`no time server responded (${broken}: `);
    } finally {
      right.close();
    }
  });

  test("The clock check is skipped without a time server.", async () => {
    expect(await checkTime([])).toMatchObject({ state: "ok", text: expect.stringContaining("not checked") });
  });
});

describe("ports", () => {
  test("A port that is free, or any port, passes.", async () => {
    const server = await listen();
    const port = portOf(server);
    server.close();
    await once(server, "close");
    expect(await checkPort("HTTP port", "127.0.0.1", port, "--http-port")).toMatchObject({
      state: "ok",
      text: `port ${port} of 127.0.0.1 is free`,
    });
    expect(await checkPort("peer port", "::1", 0, "--p2p-port")).toMatchObject({ state: "ok" });
  });

  test("A port of another program fails and names the option.", async () => {
    const server = await listen();
    const port = portOf(server);
    const finding = await checkPort("peer port", "127.0.0.1", port, "--p2p-port");
    server.close();
    expect(finding).toMatchObject({
      name: "peer port",
      state: "fail",
      text: `port ${port} of 127.0.0.1 cannot be used: EADDRINUSE`,
      remedy: "choose another port with --p2p-port, or stop the program that uses it",
    });
  });

  test("An address that is not of this machine fails.", async () => {
    const finding = await checkPort("HTTP port", "192.0.2.1", 4003, "--http-port");
    expect(finding).toMatchObject({ state: "fail", text: expect.stringContaining("EADDRNOTAVAIL") });
  });
});

describe("head", () => {
  test("A chain whose head is in the future fails, with the time when forging resumes.", () => {
    const data = join(folder, "chain");
    mkdirSync(data);
    const check = () => checkHead({ network: "livenet" }, data);
    expect(checkHead({}, data)).toMatchObject({ state: "ok", text: expect.stringContaining("own clock") });
    expect(check()).toMatchObject({ state: "ok", text: expect.stringContaining("no chain yet") });
    const database = openDatabase(join(data, "node.sqlite"));
    migrate(database);
    const slots = createSlots(createNetwork(livenet));
    const insert = createInventedBlocks(database);
    insert({ height: 1, id: "1" });
    expect(check()).toMatchObject({ name: "head", state: "ok", text: "block 1" });
    const timestamp = slots.timeAt(Date.now()) + 86_400;
    insert({ height: 2, id: "2", timestamp });
    const resumesAt = new Date(slots.unixMsOf(slots.slotTime(slots.slotAt(timestamp) + 1))).toISOString();
    expect(check()).toMatchObject({ state: "fail", text: expect.stringContaining(resumesAt) });
    database.close();
  });

  test("A chain of another network fails.", () => {
    const data = join(folder, "other-chain");
    mkdirSync(data);
    const database = openDatabase(join(data, "node.sqlite"));
    migrate(database);
    const nethash = "f".repeat(64);
    new MetaStore(database).write("nethash", nethash);
    database.close();
    expect(checkHead({ network: "livenet" }, data)).toMatchObject({
      name: "head",
      state: "fail",
      text: expect.stringContaining(`has the chain of another network (nethash ${nethash}), not of livenet`),
      remedy: expect.stringContaining("--data"),
    });
  });
});

describe("genesis", () => {
  const networkDir = join(folder, "network");
  const data = join(folder, "genesis");
  const genesisOf = (choice: NetworkChoice, alone = false) => checkGenesis(choice, { data, alone });

  test("Consistent files of a network pass.", async () => {
    expect(await runMain(["network", "init", networkDir, "--name", "ours"])).toMatchObject({ code: 0 });
    expect(genesisOf({ networkDir })).toMatchObject({
      state: "ok",
      text: expect.stringMatching(/^ours, nethash [0-9a-f]{64}$/),
    });
  });

  test("Files that are missing, damaged or of another network fail and are named.", () => {
    const empty = join(folder, "empty");
    mkdirSync(empty);
    expect(genesisOf({ networkDir: empty })).toMatchObject({
      state: "fail",
      text: expect.stringMatching(/network\.json and milestones\.json and genesisBlock\.json missing/),
      remedy: "see docs/guides/network.md",
    });
    const genesis = join(folder, "genesisBlock.json");
    writeFileSync(genesis, "{");
    expect(genesisOf({ network: "livenet", genesis })).toMatchObject({
      state: "fail",
      text: expect.stringContaining(genesis),
    });
    writeFileSync(genesis, JSON.stringify({ payloadHash: "ab".repeat(32) }));
    expect(genesisOf({ network: "livenet", genesis })).toMatchObject({
      state: "fail",
      text: expect.stringContaining("use the genesis block of livenet"),
    });
  });

  test("A dev chain and a known network need no file.", () => {
    expect(genesisOf({})).toMatchObject({ state: "ok" });
    expect(genesisOf({ network: "livenet" })).toMatchObject({ state: "ok" });
  });

  test("A known network without peers needs a file, unless an earlier start has stored it.", () => {
    expect(genesisOf({ network: "livenet" }, true)).toMatchObject({
      state: "fail",
      text: expect.stringContaining("give --genesis FILE"),
    });
    mkdirSync(data);
    writeFileSync(join(data, "genesisBlock.json"), "{}");
    expect(genesisOf({ network: "livenet" }, true)).toMatchObject({ state: "ok" });
  });
});

describe("peers", () => {
  test("Seeds that all accept connections pass; one that does not is a warning; none fails.", async () => {
    const peer = await listen("127.0.0.1");
    const port = portOf(peer);
    expect(await checkPeers(["127.0.0.1"], port)).toMatchObject({
      state: "ok",
      text: `1 of 1 accept connections at port ${port}`,
    });
    expect(await checkPeers(["127.0.0.1", "127.0.0.2"], port)).toMatchObject({
      state: "warn",
      text: `1 of 2 accept connections at port ${port}`,
      remedy: "give more nodes with --peers",
    });
    peer.close();
    await once(peer, "close");
    expect(await checkPeers(["127.0.0.1"], port)).toMatchObject({
      state: "fail",
      remedy: `allow outgoing TCP to port ${port}, or give other nodes with --peers`,
    });
  });

  test("The peer check is skipped without seeds.", async () => {
    expect(await checkPeers([], 4001)).toMatchObject({
      state: "ok",
      text: expect.stringContaining("no seed peers"),
    });
  });
});

describe("data folder", () => {
  test("An empty or missing folder passes; a file and a damaged database fail.", () => {
    expect(checkFolder(join(folder, "new/data"))).toMatchObject({ state: "ok" });
    const file = join(folder, "file");
    writeFileSync(file, "");
    expect(checkFolder(file)).toMatchObject({ state: "fail", text: `${file} is a file` });
    expect(checkFolder(join(file, "data"))).toMatchObject({ state: "fail", text: `${file} is a file` });
    const damaged = join(folder, "damaged");
    mkdirSync(damaged);
    writeFileSync(join(damaged, "node.sqlite"), "no database ".repeat(1_000));
    expect(checkFolder(damaged)).toMatchObject({
      state: "fail",
      text: expect.stringContaining(join(damaged, "node.sqlite")),
      remedy: expect.stringContaining("snapshot"),
    });
  });

  test("A long check of a large database is announced.", () => {
    const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    onTestFinished(() => write.mockRestore());
    const data = join(folder, "large");
    mkdirSync(data);
    const path = join(data, "node.sqlite");
    writeFileSync(path, "");
    checkFolder(data);
    expect(write).not.toHaveBeenCalled();
    // The file system stores no zeros.
    truncateSync(path, 1.5 * 2 ** 30);
    expect(checkFolder(data)).toMatchObject({ state: "fail" });
    expect(write).toHaveBeenCalledExactlyOnceWith("reading the database of 1.5 GiB takes some minutes ...\n");
  });

  test("A database that cannot be opened is not called damaged, and its folder is not to be moved away.", () => {
    const data = join(folder, "unreadable");
    const path = join(data, "node.sqlite");
    mkdirSync(path, { recursive: true });
    expect(checkFolder(data)).toMatchObject({
      state: "fail",
      text: expect.stringMatching(`^${path} cannot be used .*: make it readable and writable for this user`),
      remedy: expect.stringMatching(/^keep the folder/),
    });
  });
});

describe("a running node", () => {
  const data = join(folder, "running");
  let node: Running;
  let port: string;
  beforeAll(async () => {
    node = spawnUniknode(["dev", "--data", data, "--http-port", "0", "--block-time", "3600"]);
    [, port] = (await node.printed(/API\s+http:\S+?:(\d+)\/api/)) as unknown as [string, string];
    await node.printed(/Ctrl-C stops/);
  });
  afterAll(async () => {
    node.child.kill("SIGKILL");
    await node.ended;
  });

  test("A running node uses its own port, which passes.", async () => {
    const { code, stdout, stderr } = await runMain(["doctor", "--data", data, "--http-port", port, "--json"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const findings = JSON.parse(stdout) as { name: string; state: string; text: string }[];
    expect(findings).toContainEqual({
      name: "HTTP port",
      state: "ok",
      text: `this node is listening on port ${port} of 127.0.0.1`,
    });
    expect(findings).toContainEqual({ name: "data folder", state: "ok", text: `${data} has a chain` });
  });
});

test("Every failure is named at the end, and the code is 1.", async () => {
  const { server, close } = await startTimeServer((request) => [replyOf(request, Date.now() + 60_000)]);
  const taken = await listen();
  const args = ["--network", "livenet", "--http-port", `${portOf(taken)}`, "--time-servers", server];
  const peers = ["--peers", "127.0.0.9", "--p2p-host", "127.0.0.1", "--p2p-port", `${portOf(taken)}`];
  const { code, stdout, stderr } = await runMain(["doctor", "--data", join(folder, "x"), ...args, ...peers]);
  close();
  taken.close();
  expect(code).toBe(1);
  expect(stdout).toMatch(/^fail +clock +(59|60)\d{3} ms behind .*\n +enable time synchronisation/m);
  expect(stdout).toMatch(/^fail +peers +0 of \d accept/m);
  expect(stderr).toBe(
    'uniknode: failed checks: clock, HTTP port, peer port, peers; the lines marked "fail" say what to do\n',
  );
});
