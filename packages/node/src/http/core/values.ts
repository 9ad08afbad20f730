/**
 * Values in responses (http-api.md 5) and times (http-api.md 4.1 and 4.2), with their schemas. Amounts are decimal text nearly
 * everywhere, and a JSON integer with all its digits, also beyond 2^53, if interface.md 4 has an integer.
 */

import { type Static, Type } from "../../platform/json/schema.ts";
import type { Head } from "../../read/port.ts";
import { JsonText } from "./text.ts";

/** Decimal text of the smallest unit; may be negative. */
export const amount = Type.String({ pattern: "^-?[0-9]+$" });
/** JSON integer of the smallest unit with all its digits, also beyond 2^53. */
export const wholeAmount = Type.Integer({
  description: "In the smallest unit, with all digits, also beyond 2^53.",
});
export const count = Type.Integer({ minimum: 0 });
/** Decimal text of a count. */
export const countText = Type.String({ pattern: "^[0-9]+$" });
export const id = Type.String({ pattern: "^[0-9a-f]{64}$" });
/** Block id; short ids are decimal. */
export const blockId = Type.String({ pattern: "^([0-9]{1,20}|[0-9a-f]{64})$" });
export const publicKey = Type.String({ pattern: "^[0-9a-f]{66}$" });
export const address = Type.String({ pattern: "^[0-9A-Za-z]{34}$" });
/** Username of a delegate: a name, or the id of a unik. */
export const username = Type.String({ minLength: 1, maxLength: 64 });
export const hex = Type.String({ pattern: "^[0-9a-f]*$" });

// Every supported runtime has it; the compiler's library does not declare it yet.
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

/** Wraps decimal digits as a JSON integer, which JSON.stringify writes unchanged. */
export const integer = (digits: string): number => rawJSON(digits) as number;

/** Fees that the old network always returns for its group 2, whose types were never used with other fees. */
export const ENTITY_FEES = {
  entityRegistration: "5000000000",
  entityResignation: "500000000",
  entityUpdate: "500000000",
} as const;

export const Timestamp = Type.Object(
  {
    epoch: Type.Integer({ description: "Seconds since the network epoch." }),
    unix: Type.Integer({ description: "Seconds since 1970." }),
    human: Type.String({ description: "ISO 8601, UTC." }),
  },
  { title: "Timestamp" },
);
export type Timestamp = Static<typeof Timestamp>;

/** Converts seconds since the network epoch. */
export type TimestampOf = (time: number) => Timestamp;

const PAIRS = Array.from({ length: 60 }, (_, count) => `${count}`.padStart(2, "0"));
/** Length of the part after the day in ISO 8601. */
const TIME_LENGTH = "00:00:00.000Z".length;
const DAY_SECONDS = 86_400;

/** Creates a function that converts times; it formats them fifteen times as fast as `Date`. */
export function createTimestampOf(unixMsOf: (time: number) => number): TimestampOf {
  // Consecutive rows often belong to the same block, and the rows of a page belong to one day or a few.
  let last: Timestamp | undefined;
  let lastDay: number | undefined;
  let dayText = "";
  return (time) => {
    if (last?.epoch === time) return last;
    const unixMs = unixMsOf(time);
    const day = Math.floor(unixMs / (DAY_SECONDS * 1_000));
    if (day !== lastDay) {
      dayText = new Date(unixMs).toISOString().slice(0, -TIME_LENGTH);
      lastDay = day;
    }
    const unix = Math.floor(unixMs / 1_000);
    const seconds = unix - day * DAY_SECONDS;
    const minutes = Math.floor(seconds / 60);
    const ms = `${unixMs - unix * 1_000}`.padStart(3, "0");
    const human = `${dayText}${PAIRS[Math.floor(minutes / 60)]}:${PAIRS[minutes % 60]}:${PAIRS[seconds % 60]}.${ms}Z`;
    last = { epoch: time, unix, human };
    return last;
  };
}

export const timestampText = ({ epoch, unix, human }: Timestamp): string =>
  `{"epoch":${epoch},"unix":${unix},"human":"${human}"}`;

/** State of the chain from which a response was read: clients can check that two responses belong together. */
export const Chainmeta = Type.Object(
  { height: Type.Integer({ minimum: 1 }), timestamp: Timestamp },
  { title: "Chainmeta", description: "Head of the chain at which the response was read." },
);
export type Chainmeta = Static<typeof Chainmeta>;

export const chainmeta = (head: Head, timestampOf: TimestampOf): JsonText<Chainmeta> =>
  new JsonText(`{"height":${head.height},"timestamp":${timestampText(timestampOf(head.timestamp))}}`);
