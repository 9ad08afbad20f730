/** Pings a receiver and describes the response. */
import type { Client } from "@uniknode/client";

/** @throws {ApiError} */
export async function pingOf(webhooks: Client["webhooks"], id: number): Promise<string> {
  const { data } = await webhooks.ping(id);
  const isAccepted = data.state === "delivered";
  const said = data.attempts[0]?.status ?? data.reason;
  return `The receiver ${isAccepted ? "accepted" : "did not accept"} the ping: ${said}`;
}
