/** A sender with test options, and its deliveries. */
import { onTestFinished } from "vitest";
import type { Lookup } from "../../../src/webhooks/connections/names.ts";
import {
  DEFAULT_POST_OPTIONS,
  type DeliveryRequest,
  type PostOptions,
} from "../../../src/webhooks/delivery/post.ts";
import { NatsPost } from "../../../src/webhooks/nats/post.ts";
import { WAIT_MS } from "../../../test-support/process/until.ts";

export const HEADERS = {
  "webhook-id": "id",
  "webhook-timestamp": "1700000000",
  "webhook-signature": "v1,c2ln",
  "webhook-sequence": "17",
  "webhook-epoch": "3",
};

/** Creates a sender that reaches private addresses; it is closed after the test. */
export function createSender(changes: Partial<PostOptions> = {}, lookup?: Lookup) {
  const options = { ...DEFAULT_POST_OPTIONS, allowPrivateTargets: true, timeoutMs: WAIT_MS, ...changes };
  const sender = new NatsPost(options, lookup);
  const close = () => sender.close();
  onTestFinished(close);
  const { signal } = new AbortController();
  /** Sends a delivery; resolves to the acknowledgement. */
  async function send(
    id: string,
    target: string,
    changes: Partial<DeliveryRequest> & { readonly signal?: AbortSignal } = {},
  ): Promise<{ readonly stream: string; readonly seq: number; readonly duplicate?: true }> {
    const request: DeliveryRequest = {
      ...{ id, webhook: 1, target, isStrict: false, body: `{"id":"${id}"}` },
      headers: { "content-type": "application/json", authorization: "half", ...HEADERS },
      ...changes,
    };
    const { status, excerpt = "" } = await sender.post(request, changes.signal ?? signal);
    if (status !== undefined) throw new Error(`status ${status}`);
    return JSON.parse(excerpt);
  }
  return { connections: () => sender.connections(), close, send };
}
