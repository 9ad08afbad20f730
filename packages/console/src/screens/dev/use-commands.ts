/** Runs one command at a time and keeps the last outcome. */
import { useSignal } from "@preact/signals";
import type { DevChange } from "@uniknode/client";
import { announce } from "../../components/announce.tsx";
import { useNode } from "../../data/node.ts";
import { type Command, outcomeOf, run } from "./commands.ts";

export type Outcome =
  | { readonly command: Command; readonly text: string }
  | { readonly command: Command; readonly error: unknown };

export type Commands = {
  readonly running: Command | undefined;
  readonly outcome: Outcome | undefined;
  /** @returns undefined if the command failed or does not change the chain; see `outcome` */
  run(command: Command): Promise<DevChange | undefined>;
};

export function useCommands(onChange: (change: DevChange) => void): Commands {
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
