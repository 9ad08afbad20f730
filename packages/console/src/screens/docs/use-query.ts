/** The search of the documents, kept in the address of the page. */
import { useListState } from "../../components/list-state.ts";

export type Query = {
  /** Empty: none. */
  readonly query: string;
  /** Replaces the address while one types. */
  search(query: string): void;
};

/** More is no search. */
const MAX_LENGTH = 200;

export function useQuery(): Query {
  const { query, change } = useListState();
  return {
    query: (query.q ?? "").slice(0, MAX_LENGTH),
    search: (text) => change({ q: text.slice(0, MAX_LENGTH) }, true),
  };
}
