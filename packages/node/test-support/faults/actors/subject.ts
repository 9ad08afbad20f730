/** A webhook under test: its receiver, and its registrations over time. */
import type { ApiError } from "@uniknode/client";
import { present } from "../../../src/platform/present.ts";
import type { Period, Replay } from "../checks/evidence.ts";
import type { Kind } from "../checks/kinds.ts";
import type { DevChain } from "./dev-chain.ts";
import type { Receiver } from "./receiver.ts";

export class Subject {
  readonly receiver: Receiver;
  id = 0;
  readonly periods: Period[] = [];
  readonly replays: Replay[] = [];
  /** The events of a change of this chain are committed with it. */
  readonly #chain: Pick<DevChain, "client" | "chronicle">;

  constructor(receiver: Receiver, chain: Pick<DevChain, "client" | "chronicle">) {
    this.receiver = receiver;
    this.#chain = chain;
  }

  async register(kind: Kind): Promise<void> {
    const { client, chronicle } = this.#chain;
    const notBefore = chronicle.position();
    this.id = await this.receiver.register(client, kind.body);
    this.periods.push({ kind, notBefore, fullyFrom: chronicle.position() });
  }

  get last(): Period {
    return present(this.periods.at(-1));
  }

  /** Changes the kind. If the response is lost, either may be active for a while, and no delivery is required. */
  async change(kind: Kind): Promise<void> {
    const { receiver, periods, last: before } = this;
    const { client, chronicle } = this.#chain;
    // A receiver that responds 410 would be suspended again.
    if (receiver.behaviour === "gone") await receiver.become("well");
    const notBefore = chronicle.position();
    periods.push({ kind, notBefore, fullyFrom: Number.POSITIVE_INFINITY, isUnsure: true });
    const defaults = { match: "any", order: "parallel", confirmations: 0 } as const;
    await client.webhooks.update(this.id, { ...defaults, ...kind.body });
    const fullyFrom = chronicle.position();
    periods.splice(-2, 2, { ...before, until: fullyFrom }, { kind, notBefore, fullyFrom });
  }

  /** Makes the receiver respond 410: from some moment on its webhook is suspended and receives nothing. */
  async leave(): Promise<void> {
    await this.receiver.become("gone");
    this.periods.push({ ...this.last, fullyFrom: Number.POSITIVE_INFINITY });
  }

  /** Makes the receiver healthy again; a ping lifts the suspension. A change whose response was lost is repeated. */
  async comeBack(): Promise<void> {
    const { client, chronicle } = this.#chain;
    await this.receiver.become("well");
    const { data } = await client.webhooks.ping(this.id);
    if (data.state !== "delivered") return;
    if (this.last.isUnsure) await this.change(this.last.kind);
    else this.periods.push({ ...this.last, fullyFrom: chronicle.position() });
  }

  /** Returns the reason why the node has suspended the webhook, if it has. */
  async suspended(): Promise<string | undefined> {
    return (await this.#chain.client.webhooks.get(this.id)).data.suspended?.reason;
  }

  /** Requests a replay of a part of the chain, unless the webhook cannot have it now. */
  async replay(fromHeight: number, toHeight: number): Promise<void> {
    const { client, chronicle } = this.#chain;
    this.replays.push({ fromHeight, toHeight, requestedAt: chronicle.position() });
    await client.webhooks.replay(this.id, { fromHeight, toHeight }).catch((error: ApiError) => {
      if (error.code !== "API_REFUSED") throw error;
    });
  }
}
