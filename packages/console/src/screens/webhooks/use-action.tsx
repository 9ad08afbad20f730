/** Runs one action at a time, and keeps and shows its outcome. */
import type { Client, Webhook } from "@uniknode/client";
import { useState } from "preact/hooks";
import { announce } from "../../components/announce.tsx";
import { errorText } from "../../components/error-text.ts";
import { useNode } from "../../data/node.ts";
import { causeOf } from "./cause.ts";

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
  outcome === undefined ? null : <p class={outcome.isBad ? "bad-text" : "quiet"}>{outcome.text}</p>;

/**
 * Pings a receiver and describes the response.
 *
 * @throws {ApiError}
 * @throws {Error} if the receiver did not accept the ping
 */
export async function pingOf(
  webhooks: Client["webhooks"],
  { id, target }: Pick<Webhook, "id" | "target">,
): Promise<string> {
  const { attempts, reason } = (await webhooks.ping(id)).data;
  return outcomeText("the ping", target, { ...attempts[0], reason });
}

/**
 * Describes the response to a message that was sent once.
 *
 * @throws {Error} if the receiver did not accept the message, because of `reason`
 */
export function outcomeText(
  what: string,
  target: string,
  { status, reason }: { readonly status?: number | undefined; readonly reason?: string | undefined },
): string {
  if (reason === undefined) return `The receiver accepted ${what}: ${status ?? "acknowledged"}`;
  const { text, advice = "" } = causeOf(reason, target);
  throw new Error(`The receiver did not accept ${what}. ${text} ${advice}`);
}
