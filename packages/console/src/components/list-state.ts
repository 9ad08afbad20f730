/** Filters, order and page of a list, kept in the query of its address. */
import { useLocation } from "preact-iso/router";

export type ListState = {
  /** From 1 on. */
  readonly page: number;
  /** Everything in the query, the page included; what is absent has no filter. */
  readonly query: Readonly<Record<string, string>>;
  /** The address of the list with other filters; an empty text removes one. It begins with the first page, unless that is given. */
  hrefWith(changes: Readonly<Record<string, string>>): string;
  /** Goes there; the address of before stays in the history, unless it is replaced. */
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

/** What is no page is the first one. */
export const pageOf = (text = "1"): number => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : 1);

/** @param url path and query */
export function hrefAfter(url: string, changes: Readonly<Record<string, string>>): string {
  const [path, query] = url.split("?");
  const parameters = new URLSearchParams(query);
  parameters.delete("page");
  for (const [name, value] of Object.entries(changes)) {
    if (value === "" || (name === "page" && value === "1")) parameters.delete(name);
    else parameters.set(name, value);
  }
  const text = `${parameters}`;
  return text === "" ? path! : `${path}?${text}`;
}
