/** Runs verbs one after the other, and keeps what the last one answered. */
import { useSignal } from "@preact/signals";
import type { DevChange } from "@uniknode/client";
import { announce } from "../../components/announce.tsx";
import { useNode } from "../../data/node.ts";
import { type Command, outcomeOf, run } from "./verbs.ts";

export type Outcome =
  | { readonly command: Command; readonly text: string }
  | { readonly command: Command; readonly error: unknown };

export type Verbs = {
  /** What is running. */
  readonly running: Command | undefined;
  readonly outcome: Outcome | undefined;
  /** @returns undefined if it failed, or has nothing to do with the chain; `outcome` says which */
  run(command: Command): Promise<DevChange | undefined>;
};

export function useVerbs(onChange: (change: DevChange) => void): Verbs {
  const { operations, poll } = useNode();
  const running = useSignal<Command | undefined>(undefined);
  const outcome = useSignal<Outcome | undefined>(undefined);
  return {
    running: running.value,
    outcome: outcome.value,
    async run(command) {
      if (running.peek()) return undefined;
      running.value = command;
      try {
        const change = await run(operations.dev, command);
        const text = outcomeOf(command, change);
        outcome.value = { command, text };
        announce(text);
        if (change) onChange(change);
        return change;
      } catch (error) {
        outcome.value = { command, error };
        return undefined;
      } finally {
        running.value = undefined;
        poll();
      }
    },
  };
}
