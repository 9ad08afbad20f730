/** Arguments of every event at and beyond their bounds, as a server reads them (p2p.md 6.2, 7 and 9). */
import { describe, expect, test } from "vitest";
import { readClientMessage } from "../../../src/peers/wire/client-messages.ts";
import { ARGUMENTS, type EventName } from "../../../src/peers/wire/events.ts";
import { present } from "../../../src/platform/present.ts";
import { codeOf } from "./hostile.ts";

type Argument = Readonly<Record<string, unknown>>;
type Case = {
  /** Complete valid arguments, including the largest and smallest ones. */
  readonly taken: readonly Argument[];
  /** Optional members. */
  readonly optional?: readonly string[];
  /** Values of members just beyond their bounds, or of a wrong form. */
  readonly beyond?: Readonly<Record<string, readonly unknown[]>>;
};

const nothing: Case = { taken: [{}] };
const hex = (digits: number) => "aF".repeat(digits / 2);
const bytes = { base64: true, data: "AAE=" };
const ip: Case = {
  taken: [{ ip: "203.0.113.7" }, { ip: "::ffff:203.0.113.7" }, { ip: "2001:db8::1" }],
  beyond: { ip: ["", "203.0.113", "203.0.113.256", "localhost", "203.0.113.7:4001", " 203.0.113.7"] },
};
const members = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`m${index}`, "v"]));
const payments = (count: number) => ({
  asset: { payments: Array(count).fill({ amount: "1", recipientId: "a" }) },
});

const CASES: Readonly<Record<EventName, Case>> = {
  "p2p.peer.getPeers": nothing,
  "p2p.peer.getStatus": nothing,
  "p2p.peer.getCommonBlocks": {
    taken: [{ ids: ["0"] }, { ids: ["9".repeat(20), hex(16), hex(64)] }, { ids: Array(10).fill("1") }],
    beyond: {
      ids: [
        [],
        Array(11).fill("1"),
        [""],
        ["1".repeat(21)],
        [hex(18)],
        [hex(62)],
        [hex(66)],
        [`${hex(64)} `],
        [`${hex(64)}\n`],
        [1],
        [null],
        ["1", ["2"]],
      ],
    },
  },
  "p2p.peer.getBlocks": {
    taken: [
      { lastBlockHeight: 1 },
      { lastBlockHeight: Number.MAX_SAFE_INTEGER, blockLimit: 1, headersOnly: false, serialized: false },
      { lastBlockHeight: 1, blockLimit: 400, headersOnly: true, serialized: true },
    ],
    optional: ["blockLimit", "headersOnly", "serialized"],
    beyond: { lastBlockHeight: [0, -1, 1.5], blockLimit: [0, -1, 1.5, 401] },
  },
  "p2p.peer.postBlock": {
    taken: [{ block: bytes }, { block: { base64: true, data: "" } }],
    beyond: { block: ["0001", { base64: "true", data: "AA==" }, { data: "AA==" }, { base64: true }] },
  },
  "p2p.peer.postTransactions": {
    taken: [
      { transactions: [] },
      { transactions: Array(40).fill({}) },
      { transactions: [members(50)] },
      { transactions: [{ ...members(50), asset: members(99) }] },
      { transactions: [payments(128)] },
    ],
    beyond: {
      transactions: [
        Array(41).fill({}),
        [members(51)],
        [{ asset: members(100) }],
        [payments(129)],
        [{ asset: { ...payments(100).asset, more: 1 } }],
        [null],
        [[]],
        ["{}"],
        [bytes],
      ],
    },
  },
  "p2p.internal.acceptNewPeer": ip,
  "p2p.internal.isPeerOrForger": ip,
  "p2p.internal.emitEvent": {
    taken: [
      { event: "", body: {} },
      { event: "block.forged", body: { id: "a", transactions: [] } },
    ],
    beyond: { body: [[{}]] },
  },
  "p2p.internal.getUnconfirmedTransactions": nothing,
  "p2p.internal.getCurrentRound": nothing,
  "p2p.internal.getNetworkState": nothing,
  "p2p.internal.getRateLimitStatus": {
    taken: [{ ip: "203.0.113.7", endpoint: "p2p.peer.getPeers" }],
    beyond: { ip: ["localhost"] },
  },
  "p2p.internal.isBlockedByRateLimit": ip,
  "p2p.internal.syncBlockchain": nothing,
  "p2p.internal.getRateLimitedEndpoints": nothing,
  "uniknode.peer.getBlocks": {
    taken: [
      { lastBlockHeight: 1, blockLimit: 1 },
      { lastBlockHeight: 7, blockLimit: 2_000 },
    ],
    beyond: { lastBlockHeight: [0, 1.5], blockLimit: [0, 1.5, 2_001] },
  },
  "uniknode.peer.getGenesis": nothing,
};

/** One value of each kind; bytes are wrapped. */
const KINDS: readonly unknown[] = [null, true, 1, "text", ["text"], { a: 1 }, bytes];
const kindOf = (value: unknown) => {
  if (Array.isArray(value)) return "list";
  if (value === null) return "null";
  return typeof value === "object" && "base64" in value ? "bytes" : typeof value;
};

const verdictOn = (event: EventName, argument: unknown) =>
  codeOf(() => readClientMessage(JSON.stringify({ event, data: { data: argument, headers: {} }, cid: 2 })));

test("Every event has cases.", () => {
  expect(Object.keys(CASES)).toEqual(Object.keys(ARGUMENTS));
});

describe.each(Object.entries(CASES) as [EventName, Case][])(
  "%s",
  (event, { taken, optional = [], beyond = {} }) => {
    const largest = present(taken.at(-1));

    test("The event accepts values within its bounds.", () => {
      for (const argument of taken)
        expect(verdictOn(event, argument), JSON.stringify(argument)).toBeUndefined();
    });

    test("The event rejects unknown members.", () => {
      for (const argument of taken) expect(verdictOn(event, { ...argument, more: 1 })).toBe("ARGUMENT_FORM");
    });

    test("The event requires each of its members.", () => {
      for (const name of Object.keys(largest)) {
        const { [name]: _, ...rest } = largest;
        expect(verdictOn(event, rest), name).toBe(optional.includes(name) ? undefined : "ARGUMENT_FORM");
      }
    });

    test("The event requires the type of each member.", () => {
      for (const [name, value] of Object.entries(largest)) {
        for (const other of KINDS.filter((kind) => kindOf(kind) !== kindOf(value))) {
          expect(verdictOn(event, { ...largest, [name]: other }), `${name}: ${JSON.stringify(other)}`).toBe(
            "ARGUMENT_FORM",
          );
        }
      }
    });

    test("The event rejects values beyond its bounds.", () => {
      for (const [name, values] of Object.entries(beyond)) {
        for (const value of values) {
          expect(verdictOn(event, { ...largest, [name]: value }), `${name}: ${JSON.stringify(value)}`).toBe(
            "ARGUMENT_FORM",
          );
        }
      }
    });

    test("The event rejects arguments that are not objects.", () => {
      for (const argument of [...KINDS.filter((kind) => kindOf(kind) !== "object"), undefined]) {
        expect(verdictOn(event, argument)).toBe("MESSAGE_FORM");
      }
    });
  },
);
