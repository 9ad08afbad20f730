import {
  type BlockHeader,
  bytesToHex,
  createNetwork,
  createSlots,
  forgeBlock,
  headerSignatureJob,
  keysFromPassphrase,
  livenet,
  verifyHeaderJob,
} from "@uniknode/protocol";
import { describe, expect, test } from "vitest";
import { OtherForger, type OtherForgerDeps } from "../../../src/forger/signing/guard.ts";

const network = createNetwork(livenet);
const slots = createSlots(network);
const keys = keysFromPassphrase("one");
const KEY = bytesToHex(keys.publicKey);
const STANDBY = bytesToHex(keysFromPassphrase("two").publicKey);
const ROUND = 10;
const FIRST = 1_000;

function headerIn(slot: number, height = slot): BlockHeader {
  const previous = { id: "ab".repeat(32), height: height - 1 };
  return forgeBlock({ network, timestamp: slots.slotTime(slot), previous, transactions: [] }, keys).header;
}

function world(options: Partial<OtherForgerDeps> = {}) {
  const found: string[] = [];
  const clock = { slot: FIRST };
  const other = new OtherForger({
    watchRounds: 0,
    roundLength: () => ROUND,
    publicKeys: [KEY, STANDBY],
    lastSlot: () => undefined,
    slotOf: ({ timestamp }) => slots.slotAt(timestamp),
    currentSlot: () => clock.slot,
    isSignatureValid: (header) => verifyHeaderJob(headerSignatureJob(header, network)) === "valid",
    onFound: ({ id }) => found.push(id),
    random: () => 0,
    ...options,
  });
  other.start(FIRST);
  const kindAt = (slot: number, key = KEY) => other.refusalOf(key, slot)?.kind;
  return { other, found, clock, kindAt };
}

describe("at the start", () => {
  test("At the start, no slot of a round is signed, and the reason names the end.", () => {
    const { other, kindAt } = world({ watchRounds: 1 });
    other.leftOut(KEY);
    for (let slot = FIRST; slot < FIRST + ROUND; slot++) expect(kindAt(slot)).toBe("watching");
    expect(other.refusalOf(KEY, FIRST)?.reason).toBe(
      `watching for another forger with the same keys until slot ${FIRST + ROUND} (--watch-rounds)`,
    );
    expect(kindAt(FIRST + ROUND)).toBeUndefined();
  });

  test("At the start, a key without a slot in that time skips its first one, and signs the second.", () => {
    const { other, kindAt } = world({ watchRounds: 1 });
    expect(kindAt(FIRST + ROUND + 3)).toBe("watching");
    other.leftOut(KEY);
    expect(kindAt(FIRST + ROUND + 4)).toBeUndefined();
  });

  test("A key without a slot, such as that of a delegate on standby, is free after the time of two rounds.", () => {
    const { kindAt } = world({ watchRounds: 1 });
    expect(kindAt(FIRST + 2 * ROUND - 1, STANDBY)).toBe("watching");
    expect(kindAt(FIRST + 2 * ROUND, STANDBY)).toBeUndefined();
  });

  test("0 rounds sign at once", () => {
    expect(world().kindAt(FIRST)).toBeUndefined();
  });

  test("At the start, a block of a key that appears during the watch stops only that key.", () => {
    const { other, found, kindAt, clock } = world({ watchRounds: 1 });
    clock.slot = FIRST + 4;
    other.saw(headerIn(FIRST + 4), true);
    expect(found).toHaveLength(1);
    expect(kindAt(FIRST + 5)).toBe("other_forger");
    expect(kindAt(FIRST + 4 + 2 * ROUND - 1)).toBe("other_forger");
    expect(kindAt(FIRST + 2 * ROUND, STANDBY)).toBeUndefined();
    expect(other.count()).toBe(1);
    clock.slot = FIRST + 4 + 2 * ROUND;
    expect(other.count()).toBe(0);
  });
});

describe("a block of an own key", () => {
  test("A block that this process did not sign stops the key until none was seen for two rounds; it is reported once.", () => {
    const { other, found, kindAt, clock } = world();
    for (const slot of [FIRST + 3, FIRST + 14, FIRST + 25]) {
      clock.slot = slot;
      other.saw(headerIn(slot), false);
    }
    expect(found).toHaveLength(1);
    expect(kindAt(FIRST + 44)).toBe("other_forger");
    expect(kindAt(FIRST + 45)).toBeUndefined();
    expect(other.refusalOf(KEY, FIRST + 30)?.reason).toContain(`slot ${FIRST + 25}): stop one of the two`);
  });

  test("A stop adds a random time, so that two forgers that found each other do not resume together.", () => {
    const { other, kindAt } = world({ random: () => 0.999 });
    other.saw(headerIn(FIRST), true);
    expect(kindAt(FIRST + 39)).toBe("other_forger");
    expect(kindAt(FIRST + 40)).toBeUndefined();
  });

  test("A block of an own key in a slot that this process signed as well is another forger's.", () => {
    const { other, kindAt } = world();
    other.signed(headerIn(FIRST, 50));
    other.saw(headerIn(FIRST, 51), false);
    expect(kindAt(FIRST + 1)).toBe("other_forger");
  });

  test("A block of an own key that returns is not another forger's, however often.", () => {
    const { other, found } = world();
    const header = headerIn(FIRST);
    other.signed(header);
    other.saw(header, true);
    other.saw(header, false);
    expect(found).toEqual([]);
  });

  test("A block that returns with an altered signature proves nothing, because it is not valid.", () => {
    const { other, found } = world();
    const header = headerIn(FIRST);
    other.signed(header);
    const altered = { ...header, id: "cd".repeat(32), blockSignature: withOtherS(header.blockSignature) };
    other.saw(altered, false);
    expect(found).toEqual([]);
  });

  test("A block of an own key without its signature proves nothing.", () => {
    const { other, found } = world();
    other.saw({ ...headerIn(FIRST), timestamp: slots.slotTime(FIRST) + 1 }, false);
    expect(found).toEqual([]);
  });

  test("A block of an own key from before this process, or of a recorded slot, may be its own.", () => {
    const { other, found } = world({ lastSlot: () => FIRST + 5 });
    for (const slot of [FIRST - 1, FIRST, FIRST + 5]) other.saw(headerIn(slot), true);
    expect(found).toEqual([]);
    other.saw(headerIn(FIRST + 1 + 5), true);
    expect(found).toEqual([]);
  });

  test("A block of an own key that is repeated does not extend the stop.", () => {
    const { other, found, kindAt, clock } = world();
    other.saw(headerIn(FIRST), false);
    clock.slot = FIRST + 2 * ROUND;
    other.saw(headerIn(FIRST), false);
    expect(kindAt(clock.slot)).toBeUndefined();
    expect(found).toHaveLength(1);
  });

  test("A block of an own key of the far future, or fetched long after its slot, is ignored.", () => {
    const { other, found, clock } = world();
    other.saw(headerIn(FIRST + 2), false);
    clock.slot = FIRST + 1_500;
    other.saw(headerIn(FIRST + 100), true);
    expect(found).toEqual([]);
  });

  test("A block of a foreign key is ignored.", () => {
    const { other, found } = world({ publicKeys: [STANDBY] });
    other.saw(headerIn(FIRST), true);
    expect(found).toEqual([]);
  });

  test("A block of thousands of slots that this process signed is remembered long enough.", () => {
    const { other, found, clock } = world();
    for (let slot = FIRST; slot < FIRST + 3_000; slot += 10) {
      clock.slot = slot;
      other.signed(headerIn(slot));
      other.saw(headerIn(Math.max(FIRST, slot - 990)), true);
    }
    expect(found).toEqual([]);
  });
});

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** Same signature with n - s in place of s, which the network does not accept. */
function withOtherS(der: string): string {
  const rLength = Number.parseInt(der.slice(6, 8), 16);
  const r = der.slice(8, 8 + 2 * rLength);
  const s = BigInt(`0x${der.slice(8 + 2 * rLength + 4)}`);
  const hex = (ORDER - s).toString(16).padStart(64, "0");
  const other = Number.parseInt(hex.slice(0, 2), 16) > 0x7f ? `00${hex}` : hex;
  const lengthOf = (text: string) => (text.length / 2).toString(16).padStart(2, "0");
  const body = `02${lengthOf(r)}${r}02${lengthOf(other)}${other}`;
  return `30${lengthOf(body)}${body}`;
}
