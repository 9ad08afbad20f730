/** Headers of requests and replies (p2p.md 3.4). Nothing is compared with what they say. */
import { isRecord } from "./record.ts";

/** Of a reply: the version announced, and the height of the head if there is one. */
export type ReplyHeaders = { version: string; height?: number };

/** What every request carries. */
export const REQUEST_HEADERS = { "Content-Type": "application/json" } as const;

const KINDS: Readonly<Record<string, "string" | "number">> = {
  version: "string",
  port: "number",
  height: "number",
  "Content-Type": "string",
};

/** Whether headers of a request are tolerated; a value that counts as false may be of any kind. */
export const areTolerated = (headers: unknown): boolean =>
  isRecord(headers) &&
  Object.entries(headers).every(
    ([name, value]) => Object.hasOwn(KINDS, name) && (!value || typeof value === KINDS[name]),
  );
