/** Search words, stored in the URL. */
import { useEffect, useRef, useState } from "preact/hooks";
import { useListState } from "../../components/list-state.ts";

/** Maximum length of a query. */
const MAX_LENGTH = 200;
/** Delay, because browsers limit the rate of URL changes. */
const PAUSE_MS = 150;

/** @param name name in the query of the URL; removed if the text is empty */
export const useQuery = (name = "q"): string => (useListState().query[name] ?? "").slice(0, MAX_LENGTH);

export type Typed = {
  /** Text in the URL. */
  readonly query: string;
  /** Text in the field; the URL follows after a pause. */
  readonly text: string;
  type(text: string): void;
  /** Updates the URL without a pause. */
  settle(): void;
};

export function useTyped(name?: string): Typed {
  const { change } = useListState();
  const query = useQuery(name);
  const [text, setText] = useState(query);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  /** The query that this field put into the URL last. */
  const sent = useRef(query);
  useEffect(() => {
    // The URL follows the field, in which further characters may have been typed since.
    if (query === sent.current) return;
    // The URL changed by navigation.
    sent.current = query;
    clearTimeout(timer.current);
    setText(query);
  }, [query]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const search = (text: string) => {
    sent.current = text.slice(0, MAX_LENGTH);
    change({ [name ?? "q"]: sent.current }, true);
  };
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
