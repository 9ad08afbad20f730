/** Reads the parameters of the register's paths by name, each within its bounds, and pages of the list (webhooks.md 4.1). */
import * as expected from "../../platform/text/wording.ts";
import { WEBHOOK_ORDERS, type WebhookFilter } from "../../webhooks/storage/webhook-list.ts";
import { HttpError } from "../core/error.ts";

export type Query = Readonly<Record<string, unknown>>;

type Reader<T> = (name: string, text: string) => T;
type Read<R> = { [N in keyof R]?: R[N] extends Reader<infer T> ? T : never };

/**
 * Reads every given parameter.
 *
 * @throws {HttpError} 422 for parameters that are invalid, repeated or unknown
 */
export function readQuery<R extends Readonly<Record<string, Reader<unknown>>>>(
  query: Query,
  readers: R,
): Read<R> {
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => {
      const reader = Object.hasOwn(readers, name) ? readers[name] : undefined;
      if (!reader) {
        throw new HttpError("UNKNOWN_MEMBER", `"${name}" ${expected.notAllowed(name, Object.keys(readers))}`);
      }
      return [name, reader(name, typeof value === "string" ? value : "")];
    }),
  ) as Read<R>;
}

/** Creates a reader of a decimal integer from `minimum` to `maximum`. */
export const integer =
  (minimum: number, maximum: number): Reader<number> =>
  (name, text) => {
    const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    // The comparisons are false for NaN.
    if (number >= minimum && number <= maximum) return number;
    throw refused(name, expected.integer(minimum, maximum));
  };

export const oneOf =
  <T extends string>(...words: readonly T[]): Reader<T> =>
  (name, text) => {
    const word = words.find((word) => word === text);
    if (word === undefined) throw refused(name, expected.oneOf(words));
    return word;
  };

export const text: Reader<string> = (name, text) => {
  if (text === "") throw refused(name, expected.typeName("string"));
  return text;
};

const MAX_SEARCH = 100;

/** Reads a part of a text, without control characters. */
const search: Reader<string> = (name, text) => {
  if (!/^\P{Cc}{1,100}$/u.test(text)) throw refused(name, `a text of 1 to ${MAX_SEARCH} characters`);
  return text;
};

const refused = (name: string, what: string): HttpError =>
  new HttpError("INVALID_MEMBER", `"${name}" ${expected.mustBe(what)}`);

const MAX_LIMIT = 100;

/** Path in links, regardless of the requested prefix. */
const PATH = "/api/v2/webhooks";

/** `health=true` adds the members of a webhook that the interface does not have. */
export const SWITCH = oneOf("true", "false");

const READERS = {
  page: integer(1, Math.floor(Number.MAX_SAFE_INTEGER / MAX_LIMIT)),
  limit: integer(1, MAX_LIMIT),
  health: SWITCH,
  state: oneOf("active", "failing", "paused", "suspended"),
  search,
  orderBy: oneOf(...WEBHOOK_ORDERS),
};

/** A page of the list of webhooks; `number` counts from 1. */
type Page = {
  readonly filter: WebhookFilter;
  readonly number: number;
  readonly limit: number;
  readonly offset: number;
  readonly hasHealth: boolean;
};

/** @throws {HttpError} 422 for unknown parameters and for values out of bounds */
export function readPage(query: Query): Page {
  const { page: number = 1, limit = MAX_LIMIT, health, ...filter } = readQuery(query, READERS);
  return { number, limit, offset: (number - 1) * limit, hasHealth: health === "true", filter };
}

export function pageMeta({ number, limit, filter }: Page, count: number, totalCount: number) {
  const pageCount = Math.max(1, Math.ceil(totalCount / limit));
  const query = `${new URLSearchParams(filter)}`;
  const link = (page: number) => `${PATH}?page=${page}&limit=${limit}${query && `&${query}`}`;
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
