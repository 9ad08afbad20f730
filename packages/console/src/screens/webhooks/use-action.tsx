/** Runs one action at a time, and keeps and shows its outcome. */
import type { Client } from "@uniknode/client";
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

export const Outcome = ({ action: { outcome } }: { action: Action }) =>
  outcome === undefined ? null : <p class={outcome.isBad ? "bad" : "quiet"}>{outcome.text}</p>;

/**
 * Pings a receiver and describes the response.
 *
 * @throws {ApiError}
 */
export async function pingOf(webhooks: Client["webhooks"], id: number): Promise<string> {
  const { data } = await webhooks.ping(id);
  const isAccepted = data.state === "delivered";
  const said = data.attempts[0]?.status ?? data.reason ?? "acknowledged";
  return `The receiver ${isAccepted ? "accepted" : "did not accept"} the ping: ${said}`;
}
