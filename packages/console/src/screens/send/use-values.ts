/** Form input. When a field loses the focus, its value goes into the URL, so that links can fill the form. */
import { useSignal } from "@preact/signals";
import { useListState } from "../../components/list-state.ts";
import type { Values } from "./read-order.ts";

export type FormValues = {
  readonly values: Values;
  /** Values in the URL, used for queries to the node. */
  readonly settled: Values;
  /** Called on input. */
  set(name: string, value: string): void;
  /** Called when a field loses the focus. */
  settle(changes?: Values): void;
};

export function useValues(): FormValues {
  const { query, change } = useListState();
  const typed = useSignal<Values>({});
  return {
    values: { ...query, ...typed.value },
    settled: query,
    set(name, value) {
      typed.value = { ...typed.peek(), [name]: value };
    },
    settle(changes = {}) {
      // Selecting an option triggers both events before the page is rendered again.
      change({ ...typed.peek(), ...changes }, true);
      typed.value = {};
    },
  };
}
