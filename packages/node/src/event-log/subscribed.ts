/**
 * Names of the events that are worth writing, because a webhook or a live stream wants them. A name that a stream has
 * left stays wanted for a while, over a restart as well, so that the reader who comes back finds what it missed. The
 * disk hears of a name when it becomes wanted and when it is forgotten, not of each stream.
 */
import type { WantedStore } from "../store/events/subscribed.ts";

export type InterestDeps = {
  readonly store: WantedStore;
  /** Sequence of the newest event in the log. */
  readonly lastSequence: () => number;
  /** Names that webhooks want, as the register says at this moment. */
  readonly webhookNames: () => ReadonlySet<string>;
  readonly nowMs: () => number;
  /** How long a name stays wanted after the last stream has left it. */
  readonly lingerMs?: number;
};

export type Interest = {
  names(): ReadonlySet<string>;
  webhooksChanged(): void;
  /**
   * Live streams want these names, and no others.
   *
   * @returns for each of them the sequence behind which the log has every event of that name
   */
  streamsChanged(names: readonly string[]): Record<string, number>;
  /** Wanted events were not written after all: what the log has of them begins anew. */
  missed(): void;
  /** Forgets names that streams have left long ago. To be called now and then. */
  forget(): void;
};

const LINGER_MS = 15 * 60_000;

export function createInterest(deps: InterestDeps): Interest {
  const { store, lastSequence, webhookNames, nowMs, lingerMs = LINGER_MS } = deps;
  const since = store.all();
  /** Time at which the last stream left a name. */
  const leftMs = new Map([...since.keys()].map((name) => [name, nowMs()]));
  let webhooks = webhookNames();
  let names = union();

  function union(): ReadonlySet<string> {
    return new Set([...webhooks, ...since.keys()]);
  }

  function begin(name: string, sequence: number): void {
    since.set(name, sequence);
    store.set(name, sequence);
  }

  return {
    names: () => names,
    webhooksChanged() {
      webhooks = webhookNames();
      names = union();
    },
    streamsChanged(wanted) {
      for (const name of since.keys()) if (!leftMs.has(name)) leftMs.set(name, nowMs());
      for (const name of wanted) {
        leftMs.delete(name);
        if (!since.has(name)) begin(name, lastSequence());
      }
      names = union();
      return Object.fromEntries(wanted.map((name) => [name, since.get(name)!]));
    },
    missed() {
      const last = lastSequence();
      for (const [name, sequence] of since) if (sequence !== last) begin(name, last);
    },
    forget() {
      for (const [name, atMs] of leftMs) {
        // While webhooks want it as well, nothing is saved by forgetting.
        if (nowMs() - atMs < lingerMs || webhooks.has(name)) continue;
        store.remove(name);
        since.delete(name);
        leftMs.delete(name);
      }
      names = union();
    },
  };
}
