/** What is typed into a form. When a field is left it goes into the address of the page, so that a link fills the form. */
import { useSignal } from "@preact/signals";
import { useListState } from "../../components/list-state.ts";
import type { Values } from "./read-order.ts";

export type FormValues = {
  readonly values: Values;
  /** As far as it is in the address: what is asked of the node while one types. */
  readonly settled: Values;
  /** While it is typed. */
  set(name: string, value: string): void;
  /** When a field is left. */
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
      // A choice of a list is typed and left at once, before the page is drawn again.
      change({ ...typed.peek(), ...changes }, true);
      typed.value = {};
    },
  };
}
