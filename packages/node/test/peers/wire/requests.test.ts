/** Messages of clients as a server accepts them (p2p.md 3.2 to 4.3, 6.2, 7). */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { refusalMessage } from "../../../src/peers/transport/session.ts";
import {
  advance,
  type Call,
  NEW_SESSION,
  pinged,
  readClientMessage,
  type Session,
  writeCall,
  writeDisconnect,
  writeHandshake,
} from "../../../src/peers/wire/client-messages.ts";
import {
  ARGUMENTS,
  type ArgumentOf,
  type EventName,
  isInternal,
  isTransactionSmall,
} from "../../../src/peers/wire/events.ts";
import { serverReaction, WireError, type WireErrorCode } from "../../../src/peers/wire/wire-error.ts";
import { anyText, codeOf, survives } from "./hostile.ts";

const readCode = (message: unknown) => codeOf(() => readClientMessage(JSON.stringify(message)));
const event = (name: string, argument: unknown, more: object = {}) => ({
  event: name,
  data: { data: argument, headers: {} },
  cid: 2,
  ...more,
});
const withHeaders = (headers: unknown) => event("p2p.peer.getPeers", {}, { data: { data: {}, headers } });

const id = fc.oneof(
  fc.stringMatching(/^[0-9]{1,20}$/),
  fc.stringMatching(/^[0-9a-f]{16}$/),
  fc.stringMatching(/^[0-9a-f]{64}$/),
);
const ip = fc.oneof(fc.ipV4(), fc.constant("2001:db8::1"));
const call = fc.oneof(
  ...Object.keys(ARGUMENTS)
    .filter((name) => /get(Peers|Status|CurrentRound|NetworkState)|sync/.test(name) && !/Rate/.test(name))
    .map((name) => fc.constant({ event: name, argument: {} })),
  fc.array(id, { minLength: 1, maxLength: 10 }).map((ids) => ({
    event: "p2p.peer.getCommonBlocks",
    argument: { ids },
  })),
  fc
    .record(
      {
        lastBlockHeight: fc.integer({ min: 1 }),
        blockLimit: fc.integer({ min: 1, max: 400 }),
        headersOnly: fc.boolean(),
        serialized: fc.boolean(),
      },
      { requiredKeys: ["lastBlockHeight"], noNullPrototype: true },
    )
    .map((argument) => ({ event: "p2p.peer.getBlocks", argument })),
  fc.uint8Array().map((block) => ({ event: "p2p.peer.postBlock", argument: { block } })),
  ip.map((address) => ({ event: "p2p.internal.acceptNewPeer", argument: { ip: address } })),
) as fc.Arbitrary<{ event: EventName; argument: ArgumentOf<EventName> }>;

test("The server reads every call that is written.", () => {
  fc.assert(
    fc.property(
      call,
      fc.option(fc.integer({ min: 1 }), { nil: undefined }),
      ({ event, argument }, callId) => {
        const expected = { kind: "call", event, argument, callId };
        expect(readClientMessage(writeCall(event, argument, callId))).toEqual(expected);
      },
    ),
  );
});

test("The server reads the messages around the calls.", () => {
  expect(readClientMessage("#2")).toEqual({ kind: "pong" });
  expect(readClientMessage(writeHandshake())).toEqual({
    kind: "handshake",
    callId: 1,
    hasToken: false,
  });
  const handshake = (more: string) => readClientMessage(`{"event":"#handshake"${more}}`);
  expect(handshake("")).toEqual({ kind: "handshake", callId: undefined, hasToken: false });
  expect(handshake(',"data":{},"cid":7')).toEqual({ kind: "handshake", callId: 7, hasToken: false });
  expect(handshake(',"data":{"authToken":"x"},"cid":7')).toMatchObject({ hasToken: true });
  expect(readClientMessage(writeDisconnect(1000))).toEqual({ kind: "disconnect", closeCode: 1000 });
});

test("A call id of 0 counts as none.", () => {
  const text = '{"event":"p2p.peer.getStatus","data":{"data":{},"headers":{}},"cid":0}';
  expect(readClientMessage(text)).toMatchObject({ kind: "call", callId: undefined });
});

describe("refuses", () => {
  const disconnect = (more: object, data: object = { code: 1000 }) => ({
    event: "#disconnect",
    data,
    ...more,
  });
  const cases: [string, unknown, WireErrorCode][] = [
    ["a list of events", [event("p2p.peer.getPeers", {})], "MESSAGE_FORM"],
    ["a further member", event("p2p.peer.getPeers", {}, { x: 1 }), "MESSAGE_FORM"],
    ["a call id that is text", event("p2p.peer.getPeers", {}, { cid: "2" }), "MESSAGE_FORM"],
    ["a reply", { rid: 1, data: {} }, "MESSAGE_FORM"],
    ["no data", { event: "p2p.peer.getPeers", cid: 2 }, "MESSAGE_FORM"],
    ["bytes as data", { event: "p2p.peer.getPeers", data: { base64: true, data: "" } }, "MESSAGE_FORM"],
    ["bytes as argument", event("p2p.peer.getPeers", { base64: true, data: "" }), "MESSAGE_FORM"],
    ["a list as argument", event("p2p.peer.getPeers", []), "MESSAGE_FORM"],
    [
      "a further member of data",
      event("p2p.peer.getPeers", {}, { data: { data: {}, headers: {}, x: 1 } }),
      "MESSAGE_FORM",
    ],
    ["an event of two parts", event("p2p.peer", {}), "EVENT_UNKNOWN"],
    ["an event of workers", event("p2p.utils.getHandlers", {}), "EVENT_UNKNOWN"],
    ["an event that every object has", event("toString", {}), "EVENT_UNKNOWN"],
    ["a long event", event("p".repeat(129), {}), "EVENT_UNKNOWN"],
    ["the nethash as header", withHeaders({ nethash: "x" }), "HEADERS_FORM"],
    ["a port as text", withHeaders({ port: "4001" }), "HEADERS_FORM"],
    ["a version as number", withHeaders({ version: 5 }), "HEADERS_FORM"],
    ["an inherited name as header", withHeaders({ toString: "x" }), "HEADERS_FORM"],
    ["no headers", event("p2p.peer.getPeers", {}, { data: { data: {} } }), "HEADERS_FORM"],
    ["an argument where there is none", event("p2p.peer.getStatus", { a: 1 }), "ARGUMENT_FORM"],
    ["no ids", event("p2p.peer.getCommonBlocks", { ids: [] }), "ARGUMENT_FORM"],
    ["eleven ids", event("p2p.peer.getCommonBlocks", { ids: Array(11).fill("1") }), "ARGUMENT_FORM"],
    ["an odd id", event("p2p.peer.getCommonBlocks", { ids: ["abc"] }), "ARGUMENT_FORM"],
    ["no height", event("p2p.peer.getBlocks", {}), "ARGUMENT_FORM"],
    ["a height of 0", event("p2p.peer.getBlocks", { lastBlockHeight: 0 }), "ARGUMENT_FORM"],
    ["half a height", event("p2p.peer.getBlocks", { lastBlockHeight: 1.5 }), "ARGUMENT_FORM"],
    ["401 blocks", event("p2p.peer.getBlocks", { lastBlockHeight: 1, blockLimit: 401 }), "ARGUMENT_FORM"],
    ["a block as text", event("p2p.peer.postBlock", { block: "00" }), "ARGUMENT_FORM"],
    [
      "41 transactions",
      event("p2p.peer.postTransactions", { transactions: Array(41).fill({}) }),
      "ARGUMENT_FORM",
    ],
    [
      "a transaction that is no object",
      event("p2p.peer.postTransactions", { transactions: [[]] }),
      "ARGUMENT_FORM",
    ],
    ["an address that is none", event("p2p.internal.acceptNewPeer", { ip: "localhost" }), "ARGUMENT_FORM"],
    ["an event without body", event("p2p.internal.emitEvent", { event: "x" }), "ARGUMENT_FORM"],
    ["an end with a call id", disconnect({ cid: 1 }), "MESSAGE_FORM"],
    ["an end with a reason", disconnect({}, { code: 1000, data: "reason" }), "MESSAGE_FORM"],
    ["an end with a code as text", disconnect({}, { code: "1000" }), "MESSAGE_FORM"],
  ];

  test.each(cases)("%s", (_name, message, code) => {
    expect(readCode(message)).toBe(code);
  });

  test.each([
    ["hello", "MESSAGE_TOO_SHORT"],
    ["#1", "MESSAGE_TOO_SHORT"],
    ["{}", "MESSAGE_TOO_SHORT"],
    ["hello, my peer", "MESSAGE_JSON"],
    ['{"event":"p2p.peer.getPeers"', "MESSAGE_JSON"],
    ['{"event":"#handshake","event":1}', "MESSAGE_JSON"],
    ["[".repeat(1000), "MESSAGE_COMPLEXITY"],
  ])("The server refuses the text %s.", (text, code) => {
    expect(codeOf(() => readClientMessage(text))).toBe(code);
  });
});

test("The server tolerates headers of the right types, and empty ones.", () => {
  const tolerated = { version: "5.7.2", port: 4001, height: 6, "Content-Type": "application/json" };
  expect(readCode(withHeaders(tolerated))).toBeUndefined();
  expect(
    readCode(withHeaders({ version: 0, port: "", height: null, "Content-Type": false })),
  ).toBeUndefined();
});

test("Any text is a message or the typed error.", () => {
  fc.assert(
    fc.property(anyText, (text) => void survives(() => readClientMessage(text))),
    { numRuns: 2000 },
  );
});

describe("transactions", () => {
  const members = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, at]));

  test("Transactions have at most 50 members, including nested ones.", () => {
    expect(isTransactionSmall(members(50))).toBe(true);
    expect(isTransactionSmall(members(51))).toBe(false);
    expect(isTransactionSmall({ signatures: Array(49).fill("s") })).toBe(true);
    expect(isTransactionSmall({ signatures: Array(50).fill("s") })).toBe(false);
  });

  test("Transactions have an asset of at most 100 members, including itself.", () => {
    expect(isTransactionSmall({ ...members(50), asset: members(99) })).toBe(true);
    expect(isTransactionSmall({ asset: members(100) })).toBe(false);
    expect(isTransactionSmall({ asset: { votes: Array(98).fill("v") } })).toBe(true);
    expect(isTransactionSmall({ asset: { votes: Array(99).fill("v") } })).toBe(false);
    expect(isTransactionSmall({ asset: null })).toBe(true);
  });

  test("A member without a name is never sent, at any depth: peers refuse the message.", () => {
    expect(isTransactionSmall({ "": 1 })).toBe(false);
    expect(isTransactionSmall({ asset: { nft: { cat: { properties: { "": "x" } } } } })).toBe(false);
  });

  test("Transactions have at most 128 payments.", () => {
    const payments = (count: number) => Array(count).fill({ amount: "1", recipientId: "a" });
    expect(isTransactionSmall({ asset: { payments: payments(128) } })).toBe(true);
    expect(isTransactionSmall({ asset: { payments: payments(129) } })).toBe(false);
    expect(isTransactionSmall({ asset: { payments: payments(128), more: 1 } })).toBe(false);
    expect(
      isTransactionSmall({ asset: { payments: [...payments(60), { amount: 1, recipientId: "a" }] } }),
    ).toBe(false);
  });

  test("Transactions are counted without recursion.", () => {
    let asset: object = {};
    for (let depth = 0; depth < 100_000; depth++) asset = { asset };
    expect(isTransactionSmall({ asset })).toBe(false);
    expect(isTransactionSmall({ members: asset })).toBe(false);
  });
});

describe("a session", () => {
  const getPeers = readClientMessage(writeCall("p2p.peer.getPeers", {}, 2));
  const handshake = readClientMessage(writeHandshake());
  const disconnect = readClientMessage(writeDisconnect(1000));
  const pong = { kind: "pong" } as const;
  const ready: Session = advance(NEW_SESSION, handshake, 0);

  test("A session starts with the handshake.", () => {
    for (const message of [getPeers, disconnect, pong]) {
      const error = survives(() => advance(NEW_SESSION, message, 0)) as WireError;
      expect(error.code).toBe("HANDSHAKE_MISSING");
      expect(serverReaction(error)).toEqual({ kind: "close", closeCode: 4009 });
    }
    expect(codeOf(() => advance(ready, handshake, 0))).toBe("HANDSHAKE_REPEATED");
  });

  test("A session accepts one pong in a second.", () => {
    const once = advance(ready, pong, 500);
    expect(codeOf(() => advance(once, pong, 1499))).toBe("PONG_REPEATED");
    expect(codeOf(() => advance(advance(once, pong, 1500), getPeers, 1500))).toBeUndefined();
  });

  test("A session accepts as many pongs at once as there are pending pings.", () => {
    const waiting = [pinged, pinged, pinged].reduce((session, ping) => ping(session), ready);
    const burst = [pong, pong, pong].reduce((session, each) => advance(session, each, 500), waiting);
    expect(codeOf(() => advance(burst, pong, 1499))).toBe("PONG_REPEATED");
    expect(codeOf(() => advance(pinged(burst), pong, 501))).toBeUndefined();
  });

  test("A session ends with its announcement.", () => {
    const ending = advance(ready, disconnect, 0);
    for (const message of [getPeers, disconnect, pong, handshake]) {
      expect(codeOf(() => advance(ending, message, 9999))).toBe("MESSAGE_AFTER_END");
    }
  });
});

test("A call is admitted if the node is ready and the caller is trusted.", () => {
  const named = (name: EventName) => ({ event: name }) as Call;
  const [internal, peer] = [named("p2p.internal.getCurrentRound"), named("p2p.peer.getStatus")];
  expect(refusalMessage(internal, { isTrusted: false }, false)).toBe("App is not ready.");
  expect(codeOf(() => refusalMessage(internal, { isTrusted: false }, true))).toBe("EVENT_FORBIDDEN");
  expect(refusalMessage(internal, { isTrusted: true }, true)).toBeUndefined();
  expect(refusalMessage(peer, { isTrusted: false }, true)).toBeUndefined();
  expect(isInternal("p2p.peer.getStatus")).toBe(false);
  expect(serverReaction(new WireError("EVENT_FORBIDDEN", ""))).toEqual({ kind: "offence" });
});
