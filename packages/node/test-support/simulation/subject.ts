/** Webhook of the simulation: its receiver, and its registrations over time. */

import { present } from "../../src/platform/present.ts";
import type { Period, Replay } from "./case.ts";
import { bodyOf, type Kind } from "./kinds.ts";
import type { Random } from "./random.ts";
import { type Receiver, startReceiver } from "./receiver.ts";
import type { Control } from "./register.ts";
import type { Positions } from "./storage.ts";

export type Subject = {
  readonly id: number;
  readonly receiver: Receiver;
  readonly periods: Period[];
  /** Parts of the chain whose replay it requested. */
  readonly replays: Replay[];
};

/** Registers a webhook for its own receiver. */
export async function registerSubject(
  kind: Kind,
  { post }: Control,
  positions: Positions,
  random: Random,
): Promise<Subject> {
  const receiver = await startReceiver(random);
  const notBefore = await positions.reached();
  const { id, token } = (await post("/api/webhooks", { ...bodyOf(kind), target: receiver.url })) as {
    id: number;
    token: string;
  };
  receiver.tokens.add(token);
  return { id, receiver, periods: [{ kind, notBefore, fullyFrom: positions.last() }], replays: [] };
}

/**
 * Changes the kind of a webhook with the same target. If the response is lost, either kind may be active for
 * a while, and no delivery is required.
 */
export async function changeSubject(
  { id, receiver, periods }: Subject,
  kind: Kind,
  { put }: Control,
  positions: Positions,
): Promise<void> {
  // A receiver that responds 410 would be suspended again.
  if (receiver.behaviour() === "gone") await receiver.become("well");
  const before = present(periods.at(-1));
  const notBefore = await positions.reached();
  periods.push({ kind, notBefore, fullyFrom: Number.POSITIVE_INFINITY, isUnsure: true });
  const defaults = { match: "any", order: "parallel", confirmations: 0 };
  await put(`/api/webhooks/${id}`, { ...defaults, ...bodyOf(kind) });
  const fullyFrom = positions.last();
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
export async function comeBack(subject: Subject, control: Control, positions: Positions): Promise<void> {
  const { id, receiver, periods } = subject;
  await receiver.become("well");
  const { state } = (await control.post(`/api/webhooks/${id}/ping`)) as { state: string };
  if (state !== "delivered") return;
  const last = present(periods.at(-1));
  if (last.isUnsure) await changeSubject(subject, last.kind, control, positions);
  else periods.push({ ...last, fullyFrom: positions.last() });
}

/** Requests a replay of a part of the chain, unless the webhook cannot have it now. */
export async function replay(
  { id, replays }: Subject,
  { fromHeight, toHeight }: { fromHeight: number; toHeight: number },
  { post }: Control,
  positions: Positions,
): Promise<void> {
  replays.push({ fromHeight, toHeight, requestedAt: await positions.reached() });
  await post(`/api/webhooks/${id}/replay`, { fromHeight, toHeight }, [202, 409, 422]);
}
