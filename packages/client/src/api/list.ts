/** Lists: page by page, or row by row. */
import { ApiError } from "./error.ts";
import type { ApiRequest, Query } from "./request.ts";
import type { Send } from "./send.ts";

export type PageMeta = {
  readonly totalCountIsEstimate?: boolean;
  /** Rows of this page. */
  readonly count: number;
  readonly pageCount: number;
  /** Rows of the whole list. */
  readonly totalCount: number;
  /** Paths of other pages, or null if there is none. */
  readonly next: string | null;
  readonly previous: string | null;
  readonly self: string;
  readonly first: string;
  readonly last: string | null;
  /** Present if the request had a cursor: the cursor of the following page, or null on the last page. */
  readonly nextCursor?: string | null;
};

export type Page<Row, Meta = PageMeta> = { readonly meta: Meta; readonly data: readonly Row[] };

export type PageOptions = {
  /** Number of the page, from 1. Default: 1. */
  readonly page?: number;
  /** Rows of a page, 1 to 100. Default: 100. */
  readonly limit?: number;
  /** Rows to skip; replaces `page`. */
  readonly offset?: number;
  /**
   * `start`, then `nextCursor` of the page before; replaces `page` and `offset`. No row is repeated or left out while rows
   * are added.
   */
  readonly cursor?: string;
};

/** A list of the API. Iterating it requests one page after another until the loop ends. */
export type List<Row, Extra = unknown> = AsyncIterable<Row> & {
  /** @throws {ApiError} */
  page(options?: PageOptions): Promise<Page<Row> & Extra>;
};

export type ListOptions = {
  /** The list is short, and has page numbers only, no cursors: all of its pages are read first, because the loop can remove rows. */
  readonly hasNoCursors?: boolean;
};

export function createList<Row, Extra = unknown>(
  send: Send,
  request: ApiRequest,
  { hasNoCursors = false }: ListOptions = {},
): List<Row, Extra> {
  const page = (options: PageOptions = {}) =>
    send<Page<Row> & Extra>({ ...request, isSafe: true, query: { ...request.query, ...options } });
  return {
    page,
    async *[Symbol.asyncIterator]() {
      const rows: Row[] = [];
      let place: PageOptions | undefined = hasNoCursors ? { page: 1 } : { cursor: START };
      while (place) {
        try {
          const { meta, data }: Page<Row> = await page(place);
          if (hasNoCursors) rows.push(...data);
          else yield* data;
          place = placeAfter(place, meta);
        } catch (error) {
          if (place?.cursor !== START || !isRefusal(error)) throw error;
          // A node of the old network does not support cursors. Any other error occurs again.
          place = { page: 1 };
        }
      }
      yield* rows;
    },
  };
}

const START = "start";

function placeAfter({ page = 1 }: PageOptions, { next, nextCursor }: PageMeta): PageOptions | undefined {
  if (nextCursor) return { cursor: nextCursor };
  return nextCursor === null || next === null ? undefined : { page: page + 1 };
}

const isRefusal = (error: unknown): boolean =>
  error instanceof ApiError && error.code === "API_REFUSED" && !error.isRetryable;

/** `meta` of a list that is read by cursors: `next` is the path of the following page. */
export type CursorMeta = { readonly count: number; readonly next: string | null };

export type CursorOptions = {
  /** The `cursor` in the query of the `next` before. */
  readonly cursor?: string;
  /** Rows of a page. */
  readonly limit?: number;
};

/** A list that is read by cursors: no row is repeated while rows are added. */
export type CursorList<Row> = AsyncIterable<Row> & {
  /** @throws {ApiError} */
  page(options?: CursorOptions): Promise<Page<Row, CursorMeta>>;
};

export function createCursorList<Row>(send: Send, request: ApiRequest): CursorList<Row> {
  const page = (options: Query = {}) =>
    send<Page<Row, CursorMeta>>({ ...request, query: { ...request.query, ...options } });
  return {
    page,
    async *[Symbol.asyncIterator]() {
      let cursor: string | undefined;
      do {
        const { meta, data } = await page({ cursor });
        yield* data;
        cursor = cursorOf(meta.next);
      } while (cursor !== undefined);
    },
  };
}

function cursorOf(next: string | null): string | undefined {
  const [, query] = next?.split("?") ?? [];
  return new URLSearchParams(query).get("cursor") ?? undefined;
}
