/** Pages of lists in requests and responses (http-api.md 3.2 and 3.3). */
import type { FastifyRequest } from "fastify";
import { type Static, type TSchema, Type } from "../../platform/json/schema.ts";
import type { Found } from "../../read/page.ts";
import { limit, MAX_LIMIT, positive, uint } from "./parameters.ts";

/** Initial cursor of a walk. */
const START = "start";

/** Parameters of every list. */
export const pageQuery = {
  page: Type.Optional(positive),
  limit: Type.Optional(limit),
  offset: Type.Optional(uint),
  cursor: Type.Optional(
    Type.String({
      // Longer than a vendor field of 255 control characters with an id, as JSON in base64url.
      pattern: "^[A-Za-z0-9_-]{1,2800}$",
      description:
        "`start`, then `meta.nextCursor` of the previous response. Pages neither overlap nor skip rows while blocks are added. Replaces `page` and `offset`.",
    }),
  ),
};

type PageQuery = { page?: string; limit?: string; offset?: string; cursor?: string };

/** A request for a list; its query may have further parameters. */
export type ListRequest<Query extends object = object> = FastifyRequest<{ Querystring: PageQuery & Query }>;

/** `number` counts from 1. `offset` rows are skipped; at most `limit` rows follow. */
export type Page = {
  readonly number: number;
  readonly limit: number;
  readonly offset: number;
  /** Cursor of the last row of the previous page (`read/page.ts`); takes precedence over `offset`. */
  readonly after?: string;
  /** True if the client continues by cursor. */
  readonly isWalk?: boolean;
};

export function pageOf({ cursor, ...query }: PageQuery): Page {
  if (cursor !== undefined) {
    const page = { number: 1, limit: Number(query.limit ?? MAX_LIMIT), offset: 0, isWalk: true };
    return cursor === START ? page : { ...page, after: Buffer.from(cursor, "base64url").toString() };
  }
  const number = Number(query.page ?? 1);
  const limit = Number(query.limit ?? MAX_LIMIT);
  const offset = Number(query.offset ?? 0) || (number - 1) * limit;
  // No table has more rows; larger numbers would lose precision.
  return { number, limit, offset: Math.min(offset, Number.MAX_SAFE_INTEGER) };
}

/** Path and query of another page. */
const link = Type.String();
const orNull = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

export const Meta = Type.Object(
  {
    totalCountIsEstimate: Type.Boolean(),
    count: Type.Integer({ minimum: 0, description: "Number of rows in this response." }),
    pageCount: Type.Integer({ minimum: 1 }),
    totalCount: Type.Integer({ minimum: 0, description: "Number of rows in all pages." }),
    next: orNull(link),
    previous: orNull(link),
    self: link,
    first: link,
    last: orNull(link),
    nextCursor: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description: "Only if `cursor` was given; null on the last page.",
      }),
    ),
  },
  { title: "Meta", description: "Position of the page. Links consist of path and query." },
);
export type Meta = Static<typeof Meta>;

/** Returns the response of a list: one page of `totalCount` rows. */
export function listResponse<T>(
  request: FastifyRequest,
  page: Page,
  { rows, totalCount, next }: Found<T>,
): { meta: Meta; data: T[] } {
  const { cursor, offset } = request.query as PageQuery;
  const nextCursor = next === undefined ? null : Buffer.from(next).toString("base64url");
  const pageCount = Math.max(1, Math.ceil(totalCount / page.limit));
  const link = linker(request);
  const around =
    cursor !== undefined
      ? { next: nextCursor && link(1, { cursor: nextCursor }), previous: null }
      : Number(offset) > 0
        ? besideOffset(page, totalCount, link)
        : besidePage(page, pageCount, totalCount, link);
  return {
    meta: {
      totalCountIsEstimate: false,
      count: rows.length,
      pageCount,
      totalCount,
      ...around,
      self: link(page.number, { offset, cursor }),
      first: link(1),
      last: totalCount > 0 ? link(pageCount) : null,
      ...(cursor !== undefined && { nextCursor }),
    },
    data: rows,
  };
}

type Linker = (page: number, options?: LinkOptions) => string;
type Around = Pick<Meta, "next" | "previous">;

function besidePage({ number }: Page, pageCount: number, totalCount: number, link: Linker): Around {
  return {
    next: number < pageCount ? link(number + 1) : null,
    previous: number > 1 && number <= pageCount + 1 && totalCount > 0 ? link(number - 1) : null,
  };
}

/** The rows after the offset need not be those of a page. */
function besideOffset({ offset, limit }: Page, totalCount: number, link: Linker): Around {
  const before = Math.min(offset, totalCount) - limit;
  return {
    next: offset + limit < totalCount ? link(1, { offset: `${offset + limit}` }) : null,
    previous: totalCount === 0 ? null : link(1, before > 0 ? { offset: `${before}` } : {}),
  };
}

/** Parameters that links contain even if the request omitted them, in this order. */
const DEFAULTS = { transform: "true", page: "1", limit: `${MAX_LIMIT}` };

type LinkOptions = {
  /** Offset to link to. An offset makes the page ineffective (http-api.md 11 point 10). */
  readonly offset?: string | undefined;
  /** Cursor to link to instead of a page number. */
  readonly cursor?: string | undefined;
};

/** Creates links with the request's path and parameters and another page (disagreement D-07: the prefix stays). */
function linker(request: FastifyRequest): Linker {
  const [path] = request.url.split("?", 1);
  const { properties = {} } = (request.routeOptions.schema?.querystring ?? {}) as { properties?: object };
  const parameters = Object.entries(request.query as Record<string, string>);
  for (const [name, value] of Object.entries(DEFAULTS)) {
    if (name in properties && !Object.hasOwn(request.query as object, name)) parameters.push([name, value]);
  }
  return (page, { offset, cursor } = {}) => {
    const position: Record<string, string | undefined> = { page: `${page}`, offset, cursor };
    let link = `${path}?`;
    for (const [name, value] of parameters) {
      if ((name === "cursor" && cursor === undefined) || (name === "offset" && offset === undefined))
        continue;
      link += `${link.endsWith("?") ? "" : "&"}${encode(name)}=${encode(position[name] ?? value)}`;
    }
    return link;
  };
}

const encode = encodeURIComponent;
