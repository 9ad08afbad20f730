/** A webhook of the simulation: its receiver, and what it was registered for over time. */
import type { Chronicle } from "./chronicle.ts";
import type { Kind } from "./kinds.ts";
import type { Random } from "./random.ts";
import { type Receiver, startReceiver } from "./receiver.ts";
import type { Control } from "./register.ts";
import type { Period } from "./verdict.ts";

export type Subject = {
  readonly id: number;
  readonly receiver: Receiver;
  readonly periods: Period[];
};

/** Registers a webhook for a receiver of its own. */
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
  return { id, receiver, periods: [{ kind, notBefore, fullyFrom: chronicle.position() }] };
}

/**
 * Makes a webhook one of another kind, behind the same target. Where the answer is lost, both kinds may hold for a
 * while, and nobody asks what must have arrived.
 */
export async function changeSubject(
  { id, periods }: Subject,
  kind: Kind,
  { put }: Control,
  chronicle: Chronicle,
): Promise<void> {
  const before = periods.at(-1)!;
  const notBefore = chronicle.position();
  const period = { kind, notBefore, fullyFrom: Number.POSITIVE_INFINITY };
  periods.push(period);
  const defaults = { match: "any", order: "parallel", confirmations: 0 };
  await put(`/api/webhooks/${id}`, { ...defaults, ...bodyOf(kind) });
  const fullyFrom = chronicle.position();
  periods.splice(-2, 2, { ...before, until: fullyFrom }, { ...period, fullyFrom });
}

/** Every event in the list: a single one could not be taken away by a change. */
const bodyOf = ({ body: { event, events = [], ...rest } }: Kind) => ({
  ...rest,
  events: [...(event === undefined ? [] : [event]), ...(events as string[])],
});
