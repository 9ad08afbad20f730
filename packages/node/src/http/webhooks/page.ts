/** Pages of the list of webhooks (webhooks.md 4.1). */
import { HttpError } from "../transport/error.ts";

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 100;

/** Whatever path was called. */
const PATH = "/api/v2/webhooks";

/** `number` counts from 1. */
export type Page = { readonly number: number; readonly limit: number; readonly offset: number };

/** @throws {HttpError} 422 for parameters out of bounds, and for unknown ones */
export function readPage({ page, limit, ...rest }: Readonly<Record<string, unknown>>): Page {
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw new HttpError(422, `"${unknown}" is not allowed`);
  const number = readInteger("page", page ?? "1", Number.MAX_SAFE_INTEGER / MAX_LIMIT);
  const size = readInteger("limit", limit ?? `${DEFAULT_LIMIT}`, MAX_LIMIT);
  return { number, limit: size, offset: (number - 1) * size };
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
    last: totalCount > 0 ? link(pageCount) : null,
  };
}

function readInteger(name: string, text: unknown, maximum: number): number {
  const number = typeof text === "string" && /^\d+$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > maximum) throw new HttpError(422, `"${name}" must be an integer from 1`);
  return number;
}
