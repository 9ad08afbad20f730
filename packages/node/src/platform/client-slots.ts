/** Bounds what is in progress at the same time: a total number, of which one client can have a share. */
import { clientGroup } from "./addresses.ts";

type SlotLimits = { readonly total: number; readonly perClient: number };

export class ClientSlots {
  readonly #limits: SlotLimits;
  readonly #taken = new Map<string, number>();
  #all = 0;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  get taken(): number {
    return this.#all;
  }

  /** Takes a slot for a client's address, and returns a function that releases it, to be called once. Undefined if none is free. */
  take(address: string): (() => void) | undefined {
    const client = clientGroup(address);
    const own = this.#taken.get(client) ?? 0;
    if (this.#all >= this.#limits.total || own >= this.#limits.perClient) return undefined;
    this.#all += 1;
    this.#taken.set(client, own + 1);
    return () => {
      this.#all -= 1;
      const left = (this.#taken.get(client) ?? 0) - 1;
      if (left > 0) this.#taken.set(client, left);
      else this.#taken.delete(client);
    };
  }
}
