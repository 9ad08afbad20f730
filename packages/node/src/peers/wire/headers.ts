/** Headers of requests and replies (p2p.md 3.4). Their values are not compared with anything. */
import { isRecord } from "./record.ts";

/** Headers of a reply: the announced version, and the height of the head if there is one. */
export type ReplyHeaders = { version: string; height?: number };

/** Headers of every request. */
export const REQUEST_HEADERS = { "Content-Type": "application/json" } as const;

const KINDS: Readonly<Record<string, "string" | "number">> = {
  version: "string",
  port: "number",
  height: "number",
  "Content-Type": "string",
};

/** Returns true if headers of a request are tolerated; a falsy value may be of any type. */
export const areTolerated = (headers: unknown): boolean =>
  isRecord(headers) &&
  Object.entries(headers).every(
    ([name, value]) => Object.hasOwn(KINDS, name) && (!value || typeof value === KINDS[name]),
  );
