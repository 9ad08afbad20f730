/** Searches while the user types; without text, lists recently opened pages while the field has the focus. */
import { useEffect, useState } from "preact/hooks";
import { useNode } from "../data/node.ts";
import type { Found } from "./search.ts";

/** Loads the search module on the first search; without `loaded`, the node did not respond. */
export type Outcome = { readonly list: readonly Found[]; readonly loaded?: typeof import("./search.ts") };

const PAUSE_MS = 150;

export type Search = {
  /** Absent while there is nothing to show. */
  readonly outcome: Outcome | undefined;
  /** Index of the selected result. */
  readonly selected: number;
  select(index: number): void;
};

export function useSearch(text: string, hasFocus: boolean): Search {
  const { api, session } = useNode();
  const [outcome, setOutcome] = useState<Outcome>();
  const [selected, setSelected] = useState(0);
  const isEmpty = text.trim() === "";

  useEffect(() => {
    setOutcome(undefined);
    setSelected(0);
    if (isEmpty && !hasFocus) return;
    let isCurrent = true;
    const timer = setTimeout(
      async () => {
        const outcome = await find().catch((): Outcome => ({ list: [] }));
        if (isCurrent) setOutcome(outcome);
      },
      isEmpty ? 0 : PAUSE_MS,
    );
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [api, text, hasFocus]);

  async function find(): Promise<Outcome> {
    const loaded = await import("./search.ts");
    const isDevChain = session.state.peek()?.devChain === true;
    return { loaded, list: isEmpty ? loaded.recent() : await loaded.search(api, { text, isDevChain }) };
  }

  return { outcome, selected, select: setSelected };
}
