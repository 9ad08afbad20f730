/** One action at a time, with what became of it. */
import { useState } from "preact/hooks";
import { announce } from "../../components/announce.tsx";
import { useNode } from "../../data/node.ts";

export type Action = {
  readonly isRunning: boolean;
  /** What the last one has done, or why it failed. */
  readonly outcome: { readonly text: string; readonly isBad: boolean } | undefined;
  /**
   * @param work says what it has done
   * @param changed beginning of the keys of answers that it has changed; default: everything of all webhooks
   */
  run(work: () => Promise<string>, changed?: string): Promise<void>;
};

export function useAction(): Action {
  const { answers } = useNode();
  const [isRunning, setRunning] = useState(false);
  const [outcome, setOutcome] = useState<Action["outcome"]>();
  return {
    isRunning,
    outcome,
    async run(work, changed = "webhook") {
      setRunning(true);
      const outcome = await work().then(
        (text) => ({ text, isBad: false }),
        (error: unknown) => ({ text: error instanceof Error ? error.message : String(error), isBad: true }),
      );
      setOutcome(outcome);
      announce(outcome.text);
      setRunning(false);
      answers.refresh(changed);
    },
  };
}
