/** Webhook of the simulation: its receiver, and its registrations over time. */

import { present } from "../../src/platform/present.ts";
import type { Period, Replay } from "./case.ts";
import type { Chronicle } from "./chronicle.ts";
import type { Kind } from "./kinds.ts";
import type { Random } from "./random.ts";
import { type Receiver, startReceiver } from "./receiver.ts";
import type { Control } from "./register.ts";

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
  chronicle: Chronicle,
  random: Random,
): Promise<Subject> {
  const receiver = await startReceiver(random);
  const notBefore = chronicle.position();
  const { id, token } = (await post("/api/webhooks", { ...bodyOf(kind), target: receiver.url })) as {
    id: number;
    token: string;
  };
  receiver.tokens.add(token);
  return { id, receiver, periods: [{ kind, notBefore, fullyFrom: chronicle.position() }], replays: [] };
}

/**
 * Changes the kind of a webhook with the same target. If the response is lost, either kind may be active for
 * a while, and no delivery is required.
 */
export async function changeSubject(
  { id, receiver, periods }: Subject,
  kind: Kind,
  { put }: Control,
  chronicle: Chronicle,
): Promise<void> {
  // A receiver that responds 410 would be suspended again.
  if (receiver.behaviour() === "gone") await receiver.become("well");
  const before = present(periods.at(-1));
  const notBefore = chronicle.position();
  periods.push({ kind, notBefore, fullyFrom: Number.POSITIVE_INFINITY, isUnsure: true });
  const defaults = { match: "any", order: "parallel", confirmations: 0 };
  await put(`/api/webhooks/${id}`, { ...defaults, ...bodyOf(kind) });
  const fullyFrom = chronicle.position();
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
export async function comeBack(subject: Subject, control: Control, chronicle: Chronicle): Promise<void> {
  const { id, receiver, periods } = subject;
  await receiver.become("well");
  const { state } = (await control.post(`/api/webhooks/${id}/ping`)) as { state: string };
  if (state !== "delivered") return;
  const last = present(periods.at(-1));
  if (last.isUnsure) await changeSubject(subject, last.kind, control, chronicle);
  else periods.push({ ...last, fullyFrom: chronicle.position() });
}

/** Requests a replay of a part of the chain, unless the webhook cannot have it now. */
export async function replay(
  { id, replays }: Subject,
  { fromHeight, toHeight }: { fromHeight: number; toHeight: number },
  { post }: Control,
  chronicle: Chronicle,
): Promise<void> {
  replays.push({ fromHeight, toHeight, requestedAt: chronicle.position() });
  await post(`/api/webhooks/${id}/replay`, { fromHeight, toHeight }, [202, 409, 422]);
}

/** Lists every event, because a change could not remove a single one. */
const bodyOf = ({ body: { event, events = [], ...rest } }: Kind) => ({
  ...rest,
  events: [...(event === undefined ? [] : [event]), ...(events as string[])],
});
