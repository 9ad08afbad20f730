/** Messages of a server as a client accepts them (p2p.md 3.2 to 4.3, 7, 16). */
import { createNetwork, presets } from "@uniknode/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { EventName } from "../../../src/peers/wire/events.ts";
import { blocksMessageBytes, serverMessageBytes } from "../../../src/peers/wire/limits.ts";
import { type PeerEvent, readResult, readResultGradually } from "../../../src/peers/wire/replies.ts";
import {
  blockNotChained,
  readHandshakeReply,
  readReply,
  readServerMessage,
  tooManyTransactions,
  unexpectedFailure,
  writeFailure,
  writeHandshakeReply,
  writeReply,
  writeReplyGradually,
} from "../../../src/peers/wire/server-messages.ts";
import { clientReaction, type WireError } from "../../../src/peers/wire/wire-error.ts";
import { present } from "../../../src/platform/present.ts";
import { anyJson, anyText, codeOf, survives } from "./hostile.ts";

const network = createNetwork(present(presets.livenet));
const HEX64 = "ab".repeat(32);

const header = {
  id: HEX64,
  timestamp: 48,
  height: 6,
  previousBlock: HEX64,
  totalAmount: "0",
  totalFee: 0,
  reward: "200000000",
  generatorPublicKey: `02${HEX64}`,
  blockSignature: "3044",
};
const status = (members: object = {}, config: object = {}) => ({
  state: { height: 6, forgingAllowed: true, currentSlot: 7, header, ...members },
  config: {
    version: "5.7.2",
    network: {
      name: "livenet",
      nethash: HEX64,
      explorer: "",
      token: { name: "unik", symbol: "UNIK" },
    },
    plugins: { "core-api": { enabled: true, port: 4003 } },
    ...config,
  },
});
const resultCode = (event: PeerEvent, data: unknown) => codeOf(() => readResult(event, data, network));

test("The client reads messages that a server writes.", () => {
  expect(readServerMessage("#1")).toEqual({ kind: "ping" });
  const reply = writeReply(3, "p2p.peer.getPeers", [{ ip: "203.0.113.7" }], { version: "5.7.2", height: 6 });
  const message = readServerMessage(reply);
  expect(message).toMatchObject({ kind: "reply", callId: 3 });
  if (message.kind !== "reply") throw new Error("no reply");
  expect(readReply(message.data)).toEqual({ result: [{ ip: "203.0.113.7" }], height: 6 });
  expect(readServerMessage(writeFailure(4, "App is not ready."))).toEqual({
    kind: "failure",
    callId: 4,
    name: "Error",
    message: "App is not ready.",
  });
  expect(readServerMessage('{"event":"#disconnect","data":{"code":1000}}')).toEqual({
    kind: "disconnect",
    closeCode: 1000,
  });
  expect(readServerMessage('{"event":"#disconnect"}')).toEqual({ kind: "disconnect", closeCode: undefined });
  expect(readServerMessage('{"event":"#removeAuthToken"}')).toEqual({
    kind: "event",
    event: "#removeAuthToken",
  });
});

test("A reply omits the height in the headers without a block.", () => {
  expect(writeReply(1, "p2p.peer.postBlock", {}, { version: "5.7.2" })).toBe(
    '{"rid":1,"data":{"data":{},"headers":{"version":"5.7.2"}}}',
  );
});

test("The client reads errors of the socket library and unusual ones.", () => {
  const failure = (error: unknown) => readServerMessage(JSON.stringify({ rid: 1, error }));
  expect(failure({ message: "late", name: "TimeoutError" })).toMatchObject({
    name: "TimeoutError",
    message: "late",
  });
  expect(failure("bare")).toMatchObject({ name: "Error", message: "bare" });
  expect(failure({ message: 1, name: 2 })).toMatchObject({ name: "Error", message: "" });
});

test("The server writes the messages of handlers' errors.", () => {
  expect(unexpectedFailure("p2p.peer.getBlocks", "it is night")).toBe(
    "p2p.peer.getBlocks responded with it is night",
  );
  expect(blockNotChained(9, 6)).toBe("Last received block 9 cannot be chained to 6.");
  expect(tooManyTransactions({ id: "1", height: 9, numberOfTransactions: 501 })).toBe(
    "Received block 1 at height 9 contained too many transactions (501).",
  );
});

test("The client refuses texts that are not messages of a server.", () => {
  expect(codeOf(() => readServerMessage("#2"))).toBe("MESSAGE_JSON");
  expect(codeOf(() => readServerMessage("[]"))).toBe("MESSAGE_FORM");
  expect(codeOf(() => readServerMessage('{"rid":"1"}'))).toBe("MESSAGE_FORM");
  expect(codeOf(() => readServerMessage("[".repeat(100)))).toBe("MESSAGE_COMPLEXITY");
});

test("A reply without headers drops the peer, a wrong result fails only the request.", () => {
  const reactionOf = (action: () => unknown) => clientReaction(survives(action) as WireError);
  for (const data of [undefined, null, [], {}, { data: [] }, { data: [], headers: null }]) {
    expect(codeOf(() => readReply(data))).toBe("REPLY_HEADERS");
    expect(reactionOf(() => readReply(data))).toBe("drop");
  }
  expect(reactionOf(() => readResult("p2p.peer.getPeers", {}, network))).toBe("fail");
  expect(readReply({ data: 1, headers: { height: "6" } }).height).toBeUndefined();
});

test("The handshake has the timeout of pings.", () => {
  const message = readServerMessage(writeHandshakeReply(1, "id", false));
  expect(message.kind === "reply" && readHandshakeReply(message.data)).toEqual({ pingTimeoutMs: 60_000 });
  for (const pingTimeout of [undefined, "60000", 0, -1, 1e300]) {
    expect(codeOf(() => readHandshakeReply({ pingTimeout }))).toBe("REPLY_FORM");
  }
});

describe("results", () => {
  test("Results lose unknown members.", () => {
    const data = { ...status({ extra: 1, header: { ...header, extra: 1 } }, { extra: 1 }), extra: 1 };
    expect(readResult("p2p.peer.getStatus", data, network)).toEqual({
      ...status(),
      isUniknode: false,
      processId: undefined,
    });
    const peers = [{ ip: "2001:db8::7", port: 1 }];
    expect(readResult("p2p.peer.getPeers", peers, network)).toEqual([{ ip: "2001:db8::7" }]);
    const common = { common: { ...header }, lastBlockHeight: 9 };
    expect(readResult("p2p.peer.getCommonBlocks", common, network)).toEqual({ height: 6, id: HEX64 });
    const blocks = [{ ...header, transactions: ["00"], extra: 1 }, header];
    expect(readResult("p2p.peer.getBlocks", blocks, network)).toEqual([
      { ...header, transactions: ["00"] },
      header,
    ]);
  });

  test("Results with blocks are read in one step for each, without a look at unknown members.", () => {
    const closed = new Proxy(
      { ...header, transactions: ["00"] },
      {
        ownKeys() {
          throw new Error("its members were enumerated");
        },
      },
    );
    const reading = readResultGradually("p2p.peer.getBlocks", Array(50).fill(closed), network, 30);
    let steps = 1;
    let next = reading.next();
    for (; !next.done; next = reading.next()) steps++;
    expect(next.value).toEqual(Array(30).fill({ ...header, transactions: ["00"] }));
    expect(steps).toBe(30);
  });

  test("Results can be empty.", () => {
    const { state } = readResult("p2p.peer.getStatus", status({ header: {} }), network);
    expect(state.header).toBeUndefined();
    expect(readResult("p2p.peer.getCommonBlocks", { common: null }, network)).toBeNull();
    expect(readResult("p2p.peer.getBlocks", [], network)).toEqual([]);
  });

  test("Results keep plugins whose names have the usual length.", () => {
    const plugin = { enabled: false, port: 1 };
    const plugins = { abc: "whatever", abcd: { ...plugin, extra: 1 }, ["x".repeat(65)]: plugin };
    expect(readResult("p2p.peer.getStatus", status({}, { plugins }), network).config.plugins).toEqual({
      abcd: plugin,
    });
  });

  test.each<[PeerEvent, string, unknown]>([
    ["p2p.peer.getStatus", "a header that is a list", status({ header: [] })],
    ["p2p.peer.getStatus", "a height of 0", status({ height: 0 })],
    ["p2p.peer.getStatus", "no slot", status({ currentSlot: undefined })],
    [
      "p2p.peer.getStatus",
      "a header without signature",
      status({ header: { ...header, blockSignature: undefined } }),
    ],
    [
      "p2p.peer.getStatus",
      "a port beyond all",
      status({}, { plugins: { abcd: { enabled: true, port: 65_536 } } }),
    ],
    ["p2p.peer.getStatus", "a long version", status({}, { version: "5".repeat(25) })],
    ["p2p.peer.getPeers", "a name for an address", [{ ip: "localhost" }]],
    ["p2p.peer.getPeers", "an object", {}],
    ["p2p.peer.getCommonBlocks", "nothing", {}],
    ["p2p.peer.getCommonBlocks", "an odd id", { common: { height: 1, id: "abc" } }],
    ["p2p.peer.getBlocks", "a list for a block", [[]]],
    ["p2p.peer.getBlocks", "an object for transactions", [{ ...header, transactions: { length: 0 } }]],
    ["p2p.peer.getBlocks", "401 blocks", Array(401).fill(header)],
    ["p2p.peer.getBlocks", "transactions as objects", [{ ...header, transactions: [{}] }]],
    ["p2p.peer.postBlock", "a list", []],
    ["p2p.peer.postTransactions", "an object", {}],
  ])("%s refuses %s", (event, _name, data) => {
    expect(resultCode(event, data)).toBe("REPLY_FORM");
  });

  test("Results of any kind are read or refused with the typed error.", () => {
    const event = fc.constantFrom<PeerEvent>(
      "p2p.peer.getPeers",
      "p2p.peer.getStatus",
      "p2p.peer.getCommonBlocks",
      "p2p.peer.getBlocks",
      "p2p.peer.postBlock",
      "p2p.peer.postTransactions",
    );
    const member = fc.constantFrom(...Object.keys(header), "transactions", "version", "payloadHash");
    const nearly = fc.tuple(member, anyJson).map(([name, value]) => ({ ...header, [name]: value }));
    const data = fc.oneof(
      anyJson,
      nearly.map((block) => [block]),
      nearly.map((block) => status({ header: block })),
      nearly.map((block) => ({ common: block })),
    );
    fc.assert(
      fc.property(event, data, (name, value) => void survives(() => readResult(name, value, network))),
      { numRuns: 2000 },
    );
  });
});

test("Any text is a message or the typed error.", () => {
  const read = (text: string) => {
    const message = readServerMessage(text);
    if (message.kind === "reply") readReply(message.data);
  };
  fc.assert(
    fc.property(anyText, (text) => void survives(() => read(text))),
    { numRuns: 2000 },
  );
});

test("A long reply is written in steps, with the same text.", () => {
  const blocks = Array.from({ length: 30 }, (_, index) => ({ ...header, height: index + 2 })) as never;
  for (const [event, result] of [
    ["p2p.peer.getBlocks", blocks],
    ["p2p.peer.getBlocks", []],
    ["uniknode.peer.getBlocks", { blocks: Uint8Array.of(1, 2) }],
    ["p2p.peer.getStatus", status()],
  ] as [EventName, never][]) {
    const headers = { version: "5.7.2", height: 6 };
    const writing = writeReplyGradually(3, event, result, headers);
    let steps = 1;
    let next = writing.next();
    for (; !next.done; next = writing.next()) steps++;
    expect(next.value).toBe(writeReply(3, event, result, headers));
    expect(steps).toBe(result === blocks ? 31 : 1);
  }
});

test("Packed blocks do not exceed the requested number.", () => {
  const packed = (count: number) => ({ blocks: new Uint8Array(4 * count) });
  const read = (count: number) => readResult("uniknode.peer.getBlocks", packed(count), network);
  expect(read(2_000)).toHaveLength(2_000);
  expect(codeOf(() => read(2_001))).toBe("REPLY_FORM");
});

test("The limit of a server is that of the largest block from 10,000 blocks below the head on.", () => {
  const [first] = network.milestones;
  const milestone = (height: number, maxPayload: number) => ({
    ...present(first),
    height,
    block: { ...present(first).block, maxPayload },
  });
  const milestones = [milestone(1, 5_000), milestone(20_000, 1_000), milestone(40_000, 2_000)];
  const limit = (height: number) => serverMessageBytes({ ...network, milestones }, height);
  expect([1, 29_999, 30_000, 49_999, 50_000].map(limit)).toEqual([15_240, 15_240, 12_240, 12_240, 12_240]);
  expect(serverMessageBytes({ ...network, milestones: milestones.slice(0, 2) }, 30_000)).toBe(11_240);
});

test("Limits follow from the network and from the request.", () => {
  for (const height of [0, 1, 9_000_000]) expect(serverMessageBytes(network, height)).toBe(21_010_240);
  expect(blocksMessageBytes(400, false)).toBe(20_971_520);
  expect(blocksMessageBytes(3, true)).toBe(3072);
});
