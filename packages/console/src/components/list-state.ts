/** Filters, order and page of a list, stored in the query of its URL. */
import { useLocation } from "preact-iso/router";

export type ListState = {
  /** Page number from 1. */
  readonly page: number;
  /** All parameters of the query, page included. */
  readonly query: Readonly<Record<string, string>>;
  /** Returns the URL with changed filters; an empty text removes a filter. It starts at the first page unless a page is given. */
  hrefWith(changes: Readonly<Record<string, string>>): string;
  /** Navigates there, and adds a history entry unless `replace` is set. */
  change(changes: Readonly<Record<string, string>>, isReplaced?: boolean): void;
};

export function useListState(): ListState {
  const { url, query, route } = useLocation();
  const hrefWith = (changes: Readonly<Record<string, string>>) => hrefAfter(url, changes);
  return {
    page: pageOf(query.page),
    query,
    hrefWith,
    change: (changes, isReplaced = false) => route(hrefWith(changes), isReplaced),
  };
}

/** Returns the order that a query selects, if the list offers it. */
export function orderFrom<Order extends string>(
  orders: readonly { readonly value: Order | "" }[],
  orderBy: string | undefined,
): { readonly orderBy?: Order } {
  const value = orders.find((order) => order.value === orderBy)?.value;
  return value ? { orderBy: value } : {};
}

/** Parses a page number; an invalid one is the first page. */
export const pageOf = (text = "1"): number => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : 1);

/** @param url path and query */
export function hrefAfter(url: string, changes: Readonly<Record<string, string>>): string {
  const [path = "", query] = url.split("?");
  const parameters = new URLSearchParams(query);
  parameters.delete("page");
  for (const [name, value] of Object.entries(changes)) {
    if (value === "" || (name === "page" && value === "1")) parameters.delete(name);
    else parameters.set(name, value);
  }
  const text = `${parameters}`;
  return text === "" ? path : `${path}?${text}`;
}
