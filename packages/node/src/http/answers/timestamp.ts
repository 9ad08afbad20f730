/** Moments of the network in answers (http-api.md 4.1 and 4.2). */
import { type Static, Type } from "../../platform/json/schema.ts";
import type { Head } from "../../read/head.ts";
import { type JsonText, written } from "./text.ts";

export const Timestamp = Type.Object(
  {
    epoch: Type.Integer({ description: "Seconds since the network epoch." }),
    unix: Type.Integer({ description: "Seconds since 1970." }),
    human: Type.String({ description: "ISO 8601, UTC." }),
  },
  { title: "Timestamp" },
);
export type Timestamp = Static<typeof Timestamp>;

/** From seconds since the network epoch. */
export type TimestampOf = (time: number) => Timestamp;

export function createTimestampOf(unixMsOf: (time: number) => number): TimestampOf {
  // The transactions of a block are listed together.
  let last: Timestamp | undefined;
  return (time) => {
    if (last?.epoch === time) return last;
    const unixMs = unixMsOf(time);
    last = { epoch: time, unix: Math.floor(unixMs / 1000), human: new Date(unixMs).toISOString() };
    return last;
  };
}

export const timestampText = ({ epoch, unix, human }: Timestamp): string =>
  `{"epoch":${epoch},"unix":${unix},"human":"${human}"}`;

/** The state an answer was read from, so that clients see whether two answers belong together. */
export const Chainmeta = Type.Object(
  { height: Type.Integer({ minimum: 1 }), timestamp: Timestamp },
  { title: "Chainmeta", description: "The head of the chain that the answer was read at." },
);
export type Chainmeta = Static<typeof Chainmeta>;

export const chainmeta = (head: Head, timestampOf: TimestampOf): JsonText<Chainmeta> =>
  written(`{"height":${head.height},"timestamp":${timestampText(timestampOf(head.timestamp))}}`);
