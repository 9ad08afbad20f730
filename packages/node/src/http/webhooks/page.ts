/** Pages of the list of webhooks (webhooks.md 4.1). */
import { integer, oneOf, type Query, readQuery } from "./query.ts";

const MAX_LIMIT = 100;

/** Path in links, regardless of the requested prefix. */
const PATH = "/api/v2/webhooks";

/** `health=true` adds the members of a webhook that the interface does not have. */
export const SWITCH = oneOf("true", "false");

const READERS = {
  page: integer(1, Math.floor(Number.MAX_SAFE_INTEGER / MAX_LIMIT)),
  limit: integer(1, MAX_LIMIT),
  health: SWITCH,
};

/** `number` counts from 1. */
export type Page = {
  readonly number: number;
  readonly limit: number;
  readonly offset: number;
  readonly hasHealth: boolean;
};

/** @throws {HttpError} 422 for unknown parameters and for values out of bounds */
export function readPage(query: Query): Page {
  const { page: number = 1, limit = MAX_LIMIT, health } = readQuery(query, READERS);
  return { number, limit, offset: (number - 1) * limit, hasHealth: health === "true" };
}

export function pageMeta({ number, limit }: Page, count: number, totalCount: number) {
  const pageCount = Math.max(1, Math.ceil(totalCount / limit));
  const link = (page: number) => `${PATH}?page=${page}&limit=${limit}`;
  return {
    count,
    pageCount,
    totalCount,
    next: number < pageCount ? link(number + 1) : null,
    previous: number > 1 && number <= pageCount + 1 && totalCount > 0 ? link(number - 1) : null,
    self: link(number),
    first: link(1),
    last: link(pageCount),
  };
}
