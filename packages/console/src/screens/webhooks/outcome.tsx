/** Outcome of an action. */
import type { Action } from "./use-action.ts";

export const Outcome = ({ action: { outcome } }: { action: Action }) =>
  outcome === undefined ? null : <p class={outcome.isBad ? "bad" : "quiet"}>{outcome.text}</p>;
