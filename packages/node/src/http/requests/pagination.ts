/** Pages of lists: what a request asks for and what the answer says about them (http-api.md 3.2 and 3.3). */
import type { FastifyRequest } from "fastify";
import { type Static, type TSchema, Type } from "typebox";
import { limit, MAX_LIMIT, positive, uint } from "./parameters.ts";

export const pageQuery = {
  page: Type.Optional(positive),
  limit: Type.Optional(limit),
  offset: Type.Optional(uint),
};

/** A request for a list, whatever else its query has. */
export type ListRequest<Query extends object = object> = FastifyRequest<{
  Querystring: { page?: string; limit?: string; offset?: string } & Query;
}>;

/** `number` counts from 1. `offset` rows are skipped before the `limit` that are shown. */
export type Page = { readonly number: number; readonly limit: number; readonly offset: number };

export function pageOf(query: { page?: string; limit?: string; offset?: string }): Page {
  const number = Number(query.page ?? 1);
  const limit = Number(query.limit ?? MAX_LIMIT);
  const offset = Number(query.offset ?? 0) || (number - 1) * limit;
  // Further rows than this no table has; beyond it a number would lose its last digits.
  return { number, limit, offset: Math.min(offset, Number.MAX_SAFE_INTEGER) };
}

/** Path and query of another page. */
const link = Type.String();
const orNull = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

export const Meta = Type.Object(
  {
    totalCountIsEstimate: Type.Boolean(),
    count: Type.Integer({ minimum: 0, description: "Rows of this answer." }),
    pageCount: Type.Integer({ minimum: 1 }),
    totalCount: Type.Integer({ minimum: 0, description: "Rows of all pages." }),
    next: orNull(link),
    previous: orNull(link),
    self: link,
    first: link,
    last: orNull(link),
  },
  { title: "Meta", description: "The place of a page among all. Links are path and query." },
);
export type Meta = Static<typeof Meta>;

/** The answer of a list: one page of `totalCount` rows. */
export function listAnswer<T>(
  request: FastifyRequest,
  page: Page,
  { rows, totalCount }: { rows: T[]; totalCount: number },
): { meta: Meta; data: T[] } {
  const pageCount = Math.max(1, Math.ceil(totalCount / page.limit));
  const { number } = page;
  const link = linker(request);
  return {
    meta: {
      totalCountIsEstimate: false,
      count: rows.length,
      pageCount,
      totalCount,
      next: number < pageCount ? link(number + 1) : null,
      previous: number > 1 && number <= pageCount + 1 && totalCount > 0 ? link(number - 1) : null,
      self: link(number, { keepOffset: true }),
      first: link(1),
      last: totalCount > 0 ? link(pageCount) : null,
    },
    data: rows,
  };
}

/** Parameters that links spell out even when the request left them to their defaults, in this order. */
const DEFAULTS = { transform: "true", page: "1", limit: `${MAX_LIMIT}` };

/** The request's own path and parameters with another page (disagreement D-07: the prefix stays). */
function linker(request: FastifyRequest): (page: number, options?: { keepOffset: boolean }) => string {
  const path = request.url.split("?", 1)[0];
  const listed = request.routeOptions.schema?.querystring as { properties?: object } | undefined;
  const given = Object.entries(request.query as Record<string, string>);
  const missing = Object.entries(DEFAULTS).filter(
    ([name]) => name in (listed?.properties ?? {}) && !given.some(([present]) => present === name),
  );
  return (page, { keepOffset } = { keepOffset: false }) => {
    const parameters = [...given, ...missing]
      // An offset would make the page of another link ineffective (section 11, number 10).
      .filter(([name]) => keepOffset || name !== "offset")
      .map(([name, value]) => [name, name === "page" ? `${page}` : value] as const);
    return `${path}?${parameters.map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&")}`;
  };
}

const encode = encodeURIComponent;
