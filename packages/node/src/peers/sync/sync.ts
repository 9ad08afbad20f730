/** Synchronisation with the peers, from the head of this node to theirs: when its rounds run (p2p.md 13). */
import type { Network } from "@uniknode/protocol";
import type { Chain } from "../../chain/chain.ts";
import type { SyncProgress } from "../../gateway/figures.ts";
import { RATE_LIMITS } from "../wire/limits.ts";
import { CatchUp, type CatchUpDeps } from "./catch-up.ts";

export type SyncDeps = CatchUpDeps & {
  readonly network: Network;
  readonly chain: Pick<Chain, "subscribe">;
};

/** Number of slots without a new block after which a round starts ... */
const IDLE_SLOTS = 3;
/** ... earlier on networks whose blocks are faster than the rate limit of posts. */
const FAST_IDLE_SLOTS = 1.5;
/** Interval of rounds while peers have blocks that could not be fetched. */
const RETRY_MS = 1_000;

/** The rounds, one at a time, and the timer of the next one. */
export class Sync {
  readonly #deps: SyncDeps;
  readonly #idleMs: number;
  readonly #ending = new AbortController();
  readonly #catchUp: CatchUp;
  readonly #unsubscribe: () => void;
  #isStarted = false;
  #isRunning = false;
  /** Settles with the current round. */
  #running: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: SyncDeps) {
    this.#deps = deps;
    this.#idleMs = idleMsOf(deps.network);
    this.#catchUp = new CatchUp(deps, this.#ending.signal);
    this.#unsubscribe = deps.chain.subscribe(() => {
      if (this.#timer) this.#schedule(this.#idleMs);
    });
  }

  /** Starts the synchronisation, after the search for peers. */
  start(): void {
    this.#isStarted = true;
    this.#run();
  }

  /** Starts a round, since there may be blocks to fetch. Without effect before the start. */
  trigger(): void {
    if (this.#isStarted) this.#run();
  }

  /** Returns true if the node was at the head of the network in its last round, and is not fetching. */
  isSynced(): boolean {
    return this.#catchUp.isSynced;
  }

  /** Absent while in sync. */
  progress(): SyncProgress | undefined {
    return this.#catchUp.isSynced ? undefined : this.#catchUp.progress;
  }

  /** Settles when the current round has ended. */
  async close(): Promise<void> {
    this.#ending.abort();
    clearTimeout(this.#timer);
    this.#unsubscribe();
    await this.#running;
  }

  /** Starts a round, or requests another one after the current round. */
  #run(): void {
    this.#catchUp.isRequested = true;
    if (this.#isRunning || this.#ending.signal.aborted) return;
    this.#isRunning = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#running = this.#runRequested();
  }

  async #runRequested(): Promise<void> {
    while (this.#catchUp.isRequested && !this.#ending.signal.aborted) {
      this.#catchUp.isRequested = false;
      try {
        await this.#catchUp.run();
      } catch (err) {
        this.#deps.logger.error({ err }, "failed to synchronise with the network; retrying");
      }
    }
    // In the tick of the last check: a trigger starts a further round from here on.
    this.#isRunning = false;
    this.#schedule(this.#catchUp.isSynced ? this.#idleMs : RETRY_MS);
  }

  /** Replaces the timer of the next round. */
  #schedule(delayMs: number): void {
    clearTimeout(this.#timer);
    if (!this.#ending.signal.aborted) this.#timer = setTimeout(() => this.#run(), delayMs);
  }
}

function idleMsOf(network: Network): number {
  const slotMs = network.milestoneAt(1).blocktime * 1000;
  const { events, windowMs } = RATE_LIMITS["p2p.peer.postBlock"];
  return slotMs * (slotMs < windowMs / events ? FAST_IDLE_SLOTS : IDLE_SLOTS);
}
