/** Health of the node's webhooks, shared by all components that show it. */
import type { WebhookHealth } from "@uniknode/client";
import { useNode, useResponse } from "./node.ts";

const SELDOM = { lasts: "session", everyMs: 10_000 } as const;

/** Returns undefined without a session, and until the first response. */
export function useWebhookHealth(): WebhookHealth | undefined {
  const { operations, session } = useNode();
  const key = session.state.value?.signedIn === true ? "webhooks health" : undefined;
  return useResponse(key, () => operations.webhooks.health(), SELDOM).value?.data;
}

/** Number of webhooks whose receivers need attention. */
export const troubledOf = ({ failing, suspended }: WebhookHealth): number => failing + suspended;
