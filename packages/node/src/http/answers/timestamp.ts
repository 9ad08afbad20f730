/** Moments of the network in answers (http-api.md 4.1 and 4.2). */
import type { Head } from "../../store/queries/snapshot.ts";

export type Timestamp = { epoch: number; unix: number; human: string };

/** From seconds since the network epoch. */
export type TimestampOf = (time: number) => Timestamp;

export function createTimestampOf(unixMsOf: (time: number) => number): TimestampOf {
  return (time) => {
    const unixMs = unixMsOf(time);
    return { epoch: time, unix: Math.floor(unixMs / 1000), human: new Date(unixMs).toISOString() };
  };
}

/** The state an answer was read from, so that clients can tell whether two answers belong together. */
export type Chainmeta = { height: number; timestamp: Timestamp };

export const chainmeta = (head: Head, timestampOf: TimestampOf): Chainmeta => ({
  height: head.height,
  timestamp: timestampOf(head.timestamp),
});
