/** Words that are searched, kept in the address of the page. */
import { useEffect, useRef, useState } from "preact/hooks";
import { useListState } from "../../components/list-state.ts";

/** More is no search. */
const MAX_LENGTH = 200;
/** Browsers bound how often an address changes. */
const PAUSE_MS = 150;

/** @param name in the query of the address; empty text: none */
export const useQuery = (name = "q"): string => (useListState().query[name] ?? "").slice(0, MAX_LENGTH);

export type Typed = {
  /** Of the address. */
  readonly query: string;
  /** Of the field; the address follows when one pauses. */
  readonly text: string;
  type(text: string): void;
  /** Does not wait for a pause. */
  settle(): void;
};

export function useTyped(name?: string): Typed {
  const { change } = useListState();
  const query = useQuery(name);
  const [text, setText] = useState(query);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // The address changed by itself: back, or a link.
  useEffect(() => {
    clearTimeout(timer.current);
    setText(query);
  }, [query]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const search = (text: string) => change({ [name ?? "q"]: text.slice(0, MAX_LENGTH) }, true);
  return {
    query,
    text,
    type(text) {
      setText(text);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => search(text), PAUSE_MS);
    },
    settle: () => search(text),
  };
}
