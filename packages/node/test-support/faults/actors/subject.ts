/** A webhook under test: its receiver, and its registrations over time. */

import { present } from "../../../src/platform/present.ts";
import type { Random } from "../../random.ts";
import type { Period, Replay } from "../checks/evidence.ts";
import { bodyOf, type Kind } from "../checks/kinds.ts";
import type { DevChain } from "./dev-chain.ts";
import { type ReceiverOptions, startReceiver } from "./receiver.ts";

export type Subject = Awaited<ReturnType<typeof registerSubject>>;

/** The node at which webhooks are registered: the events of a change of the chain are committed with it. */
export type Register = Pick<DevChain, "control" | "chronicle"> & { readonly random: Random };

/** Registers a webhook for its own receiver. */
export async function registerSubject(
  kind: Kind,
  { control: { post }, chronicle: { position }, random }: Register,
  options?: ReceiverOptions,
) {
  const receiver = await startReceiver(random, options);
  const notBefore = position();
  const { id, token } = (await post("/api/webhooks", { ...bodyOf(kind), target: receiver.url })) as {
    id: number;
    /** Signs its first deliveries. */
    token: string;
  };
  receiver.tokens.add(token);
  const periods: Period[] = [{ kind, notBefore, fullyFrom: position() }];
  /** Parts of the chain whose replay it requested. */
  const replays: Replay[] = [];
  return { id, token, receiver, periods, replays };
}

/**
 * Changes the kind of a webhook with the same target. If the response is lost, either kind may be active for
 * a while, and no delivery is required.
 */
export async function changeSubject(
  { id, receiver, periods }: Subject,
  kind: Kind,
  { control: { put }, chronicle: { position } }: Register,
): Promise<void> {
  // A receiver that responds 410 would be suspended again.
  if (receiver.behaviour() === "gone") await receiver.become("well");
  const before = present(periods.at(-1));
  const notBefore = position();
  periods.push({ kind, notBefore, fullyFrom: Number.POSITIVE_INFINITY, isUnsure: true });
  const defaults = { match: "any", order: "parallel", confirmations: 0 };
  await put(`/api/webhooks/${id}`, { ...defaults, ...bodyOf(kind) });
  const fullyFrom = position();
  periods.splice(-2, 2, { ...before, until: fullyFrom }, { kind, notBefore, fullyFrom });
}

/** Makes the receiver respond 410: from some moment on its webhook is suspended and receives nothing. */
export async function leave({ receiver, periods }: Subject): Promise<void> {
  await receiver.become("gone");
  periods.push({ ...present(periods.at(-1)), fullyFrom: Number.POSITIVE_INFINITY });
}

/**
 * Makes the receiver healthy again; a ping lifts the suspension. A change whose response was lost is
 * repeated.
 */
export async function comeBack(subject: Subject, register: Register): Promise<void> {
  const { id, receiver, periods } = subject;
  const { control, chronicle } = register;
  await receiver.become("well");
  const { state } = (await control.post(`/api/webhooks/${id}/ping`)) as { state: string };
  if (state !== "delivered") return;
  const last = present(periods.at(-1));
  if (last.isUnsure) await changeSubject(subject, last.kind, register);
  else periods.push({ ...last, fullyFrom: chronicle.position() });
}

/** Requests a replay of a part of the chain, unless the webhook cannot have it now. */
export async function replay(
  { id, replays }: Subject,
  { fromHeight, toHeight }: { fromHeight: number; toHeight: number },
  { control: { post }, chronicle: { position } }: Register,
): Promise<void> {
  replays.push({ fromHeight, toHeight, requestedAt: position() });
  await post(`/api/webhooks/${id}/replay`, { fromHeight, toHeight }, [202, 409, 422]);
}
