/** Runs one action at a time and keeps its outcome. */

import { useState } from "preact/hooks";
import { announce } from "../../components/announce.tsx";
import { errorText } from "../../components/error-text.ts";
import { useNode } from "../../data/node.ts";

export type Action = {
  readonly isRunning: boolean;
  /** Outcome of the last action. */
  readonly outcome: { readonly text: string; readonly isBad: boolean } | undefined;
  /**
   * @param work runs the action and returns its outcome as text
   * @param changed key prefix of the cached responses to refresh; default: everything of all webhooks
   */
  run(work: () => Promise<string>, changed?: string): Promise<void>;
};

export function useAction(): Action {
  const { responses } = useNode();
  const [isRunning, setRunning] = useState(false);
  const [outcome, setOutcome] = useState<Action["outcome"]>();
  return {
    isRunning,
    outcome,
    async run(work, changed = "webhook") {
      setRunning(true);
      const outcome = await work().then(
        (text) => ({ text, isBad: false }),
        (error: unknown) => ({ text: errorText(error), isBad: true }),
      );
      setOutcome(outcome);
      announce(outcome.text);
      setRunning(false);
      responses.refresh(changed);
    },
  };
}
