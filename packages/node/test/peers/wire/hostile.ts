/** Bytes and texts of an attacker. */
import fc from "fast-check";
import { WireError } from "../../../src/peers/wire/wire-error.ts";

/** Runs an action to its end or to the typed error; any other error is a defect. */
export function survives<T>(action: () => T): T | WireError {
  try {
    return action();
  } catch (error) {
    if (error instanceof WireError) return error;
    throw error;
  }
}

/** Code of the typed error; undefined if there is none. */
export function codeOf(action: () => unknown): string | undefined {
  const outcome = survives(action);
  return outcome instanceof WireError ? outcome.code : undefined;
}

/** Member names and texts with a meaning for some parser. */
const word = fc.oneof(
  fc.constantFrom(
    "event",
    "data",
    "headers",
    "cid",
    "rid",
    "error",
    "base64",
    "__proto__",
    "constructor",
    "toString",
  ),
  fc.constantFrom(
    "transactions",
    "ids",
    "block",
    "asset",
    "payments",
    "p2p.peer.getStatus",
    "#handshake",
    "#1",
    "#2",
  ),
  fc.string({ unit: "binary", maxLength: 6 }),
);

/** Any JSON, with the members of messages among its names. */
export const anyJson = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(null, true, false),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    word,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(word, tie("value"), { maxKeys: 4 }),
  ),
})).value;

/** Texts from noise to almost valid messages. */
export const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  anyJson.map((value) => JSON.stringify(value)),
  fc
    .tuple(
      fc.constantFrom("p2p.peer.getBlocks", "p2p.peer.postTransactions", "p2p.peer.postBlock"),
      anyJson,
      anyJson,
    )
    .map(([event, data, headers]) => JSON.stringify({ event, data: { data, headers }, cid: 1 })),
  fc
    .tuple(
      anyJson.map((value) => JSON.stringify(value)),
      fc.nat(200),
      fc.string({ maxLength: 3 }),
    )
    .map(([text, at, piece]) => text.slice(0, at) + piece + text.slice(at)),
);
