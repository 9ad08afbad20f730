/** One round of synchronisation: fetches missing blocks, or switches to a better branch (p2p.md 13 and 14). */
import { RuleError } from "@uniknode/ledger";
import type { BlockHeader, Slots } from "@uniknode/protocol";
import type { Logger } from "pino";
import type { Chain } from "../../chain/chain.ts";
import { type Outcome, refusalOf } from "../../chain/outcome.ts";
import type { SyncProgress } from "../../gateway/figures.ts";
import { present } from "../../platform/present.ts";
import type { Discovery } from "../discovery/discovery.ts";
import { type DownloadResult, download } from "../download/download.ts";
import type { Fetch, Source } from "../download/source.ts";
import { type Branch, betterBranch, fetchBranch, isWithinRollback, MAX_ROLLBACK } from "../forks.ts";
import { networkHeight, type Peer, type PeerTable, peersAhead, sample } from "../peer-table.ts";
import { TIMES_MS } from "../wire/limits.ts";

export type CatchUpDeps = {
  readonly chain: Pick<Chain, "acceptFetched" | "canRevertTo" | "discardUnchecked" | "head" | "switchTo">;
  readonly peerTable: PeerTable;
  readonly pingAll: Discovery["pingAll"];
  readonly fetch: Fetch;
  readonly ban: (ip: string, reason: string) => void;
  /** Excludes a peer that did not send the blocks that it claims, or sent a branch that the rules refuse. */
  readonly suspend: (ip: string) => void;
  /** Ends the exclusion of a peer that sent blocks. */
  readonly reinstate: (ip: string) => void;
  /** Called with headers of other branches, which are signed but not on the chain. */
  readonly onForeignHeader: (header: BlockHeader) => void;
  /** Called when blocks were fetched, the last of which is the head. */
  readonly onFetched: (head: BlockHeader) => void;
  /** Called when the node is in sync with the network. */
  readonly onSynced: () => void;
  readonly slots: Slots;
  readonly nowMs: () => number;
  readonly logger: Logger;
};

/** Results of the sources of a download, by address. */
type Served = {
  /** Sources of accepted blocks. */
  readonly providers: Set<string>;
  /** Number of failed requests. */
  readonly failures: Map<string, number>;
};

type Refusal = {
  /** The head has changed since the start of the download. */
  readonly hasMoved: boolean;
  /** The block is one of a branch that should have replaced ours. */
  readonly isSwitch: boolean;
};

/** Peers of one download. */
const MAX_SOURCES = 10;
const MEASURE_INTERVAL_MS = 1_000;
const REPORT_INTERVAL_MS = 5_000;
/** This many missing blocks may be in transit: the node counts as in sync, only the forger waits for them. */
const NEAR_BLOCKS = 5;
/** A download in which fewer blocks arrive ends, so that its sources are verified again: their heights are claims. */
const CLAIM_MS = 120_000;
const CLAIM_BLOCKS = 400;
/** Failed requests, without a single block, after which a peer is suspended. */
const MAX_FAILED_REQUESTS = 2;
/** Blocks of another branch above our height that are fetched before the switch. */
const BRANCH_LEAD = 10;

/** The rounds of synchronisation, and their outcome. */
export class CatchUp {
  /** True if the node was at the head of the network in its last round, and is not fetching. */
  isSynced = false;
  /** Progress of the last download; reset when the node is in sync. */
  progress: SyncProgress | undefined;
  /** True if another round must follow. */
  isRequested = false;
  readonly #deps: CatchUpDeps;
  /** Ends the round early. */
  readonly #signal: AbortSignal;

  constructor(deps: CatchUpDeps, signal: AbortSignal) {
    this.#deps = deps;
    this.#signal = signal;
  }

  /** Pings the peers, then fetches missing blocks or switches the branch. */
  async run(): Promise<void> {
    const deps = this.#deps;
    const signal = this.#signal;
    await deps.pingAll({ isForced: true, withinMs: TIMES_MS.smallReply, signal });
    if (signal.aborted) return;
    const peers = deps.peerTable.all();
    const ahead = peersAhead(peers, deps.chain.head().height);
    if (ahead.length > 0) {
      if (this.#isNear()) this.#markSynced();
      await this.#fetchFrom(ahead);
    } else if (!(await this.#switchBranch(peers))) this.#markSynced();
  }

  /** Returns true if so few slots follow the head that only `NEAR_BLOCKS` can be missing, whatever peers claim. */
  #isNear(): boolean {
    const { chain, slots, nowMs } = this.#deps;
    return slots.slotAt(slots.timeAt(nowMs())) - slots.slotAt(chain.head().timestamp) <= NEAR_BLOCKS;
  }

  #markSynced(): void {
    const { chain, peerTable, logger, onSynced } = this.#deps;
    this.progress = undefined;
    if (this.isSynced) return;
    this.isSynced = true;
    logger.info({ height: chain.head().height, peers: peerTable.all().length }, "Blockchain 100% in sync");
    onSynced();
  }

  async #fetchFrom(ahead: readonly Peer[]): Promise<void> {
    const { chain } = this.#deps;
    const after = chain.head().height;
    const sources = sample(ahead.map(sourceOf), MAX_SOURCES);
    // The median: a single peer with a false claim must not keep the download open.
    const to = networkHeight(sources.map(({ height }) => height));
    // A claim alone does not put the node out of sync: a few blocks must arrive first.
    const target = this.isSynced ? Math.min(to, after + NEAR_BLOCKS) : to;
    const stopReports = this.#reportProgress(to);
    const served: Served = { providers: new Set(), failures: new Map() };
    try {
      const result = await this.#downloadRange({ after, to: target }, sources, served);
      if (this.#signal.aborted) return;
      if (result.kind === "done" && target < to && !this.#isNear()) this.isSynced = false;
      if (result.kind === "refused") {
        const isStale = chain.head().height > after;
        this.#penalize(result.source, result.outcome, { hasMoved: isStale, isSwitch: false });
      }
    } finally {
      stopReports();
    }
    this.#judgeClaims(served);
    if (chain.head().height > after) this.#onHeadFetched();
  }

  /** Measures and logs the progress towards a height until the returned function is called. */
  #reportProgress(to: number): () => void {
    const { chain, logger } = this.#deps;
    const meter = new ProgressMeter();
    const measure = () => {
      this.progress = meter.measure(chain.head().height, to, performance.now());
    };
    measure();
    const measuring = setInterval(measure, MEASURE_INTERVAL_MS);
    const report = () => logger.info({ height: chain.head().height, ...this.progress }, "synchronising");
    const reporting = setInterval(report, REPORT_INTERVAL_MS);
    return () => {
      clearInterval(measuring);
      clearInterval(reporting);
    };
  }

  /**
   * Ends early when the head is near, or when few blocks arrive: a source could send each new block late, below a height that does
   * not exist.
   *
   * @param served is filled during the download
   */
  #downloadRange(
    range: { readonly after: number; readonly to: number },
    sources: readonly Source[],
    { providers, failures }: Served,
  ): Promise<DownloadResult> {
    const deps = this.#deps;
    const signal = this.#signal;
    const ending = new AbortController();
    let received = 0;
    const timer = setInterval(() => {
      if (received < CLAIM_BLOCKS) ending.abort();
      received = 0;
    }, CLAIM_MS);
    return download(range, sources, {
      fetch: deps.fetch,
      accept: async (blocks, { ip }) => {
        received += blocks.length;
        const outcomes = await deps.chain.acceptFetched(blocks, { signal, targetHeight: range.to });
        if (outcomes.some(({ kind }) => kind === "Accepted")) providers.add(ip);
        if (!this.isSynced && this.#isNear()) ending.abort();
        return outcomes;
      },
      onFailure({ ip }, error) {
        deps.logger.debug({ ip, reason: (error as Error).message }, "failed to fetch blocks from a peer");
        failures.set(ip, (failures.get(ip) ?? 0) + 1);
      },
      signal: AbortSignal.any([signal, ending.signal]),
    }).finally(() => clearInterval(timer));
  }

  /** Reinstates peers that sent blocks, and suspends peers that did not. */
  #judgeClaims({ providers, failures }: Served): void {
    const deps = this.#deps;
    for (const ip of providers) deps.reinstate(ip);
    if (this.#signal.aborted) return;
    for (const [ip, count] of failures) {
      if (providers.has(ip) || count < MAX_FAILED_REQUESTS) continue;
      deps.logger.info({ ip }, "peer suspended: it did not send the blocks that it claims");
      deps.suspend(ip);
    }
  }

  #onHeadFetched(): void {
    this.#deps.onFetched(this.#deps.chain.head());
    // Other nodes may have forged in the meantime.
    this.isRequested = true;
  }

  /** Bans, suspends or drops the source of a refused block. */
  #penalize({ ip }: Source, outcome: Outcome, { hasMoved, isSwitch }: Refusal): void {
    const deps = this.#deps;
    // The same block may have been posted in the meantime.
    if (hasMoved && (outcome.kind === "Unchained" || outcome.kind === "Discarded")) return;
    deps.logger.warn({ ip, reason: refusalOf(outcome) }, "downloaded block refused");
    if (isProvablyInvalid(outcome)) deps.ban(ip, "it sent an invalid block");
    // The whole branch was reverted and executed for it: it must not be repeated at once.
    else if (isSwitch && (outcome.kind === "Discarded" || isAgainstRules(outcome))) deps.suspend(ip);
    // Its chain differs from the verified one: it can become a peer again after another verification.
    else deps.peerTable.remove(ip);
  }

  /** Switches from a wrong branch to the right one; false if no branch is better than ours. */
  async #switchBranch(peers: readonly Peer[]): Promise<boolean> {
    const deps = this.#deps;
    const signal = this.#signal;
    const { chain, logger } = deps;
    const { height } = chain.head();
    const branch = betterBranch(peers, height);
    if (!branch) return false;
    const { commonHeight } = branch;
    if (!isWithinRollback(branch, height) || !chain.canRevertTo(commonHeight)) {
      return this.#discardOwnBranch(branch, height);
    }
    this.isSynced = false;
    const sources = sample(branch.holders.map(sourceOf), MAX_SOURCES);
    // A few more than needed, since our own chain may grow in the meantime; the rest is fetched after the switch.
    const to = Math.min(branch.height, height + BRANCH_LEAD);
    const { blocks, providers, failing } = await fetchBranch({ after: commonHeight, to }, sources, {
      fetch: deps.fetch,
      signal,
    });
    for (const { ip } of failing) deps.suspend(ip);
    if (commonHeight + blocks.length <= chain.head().height || signal.aborted) return true;
    logger.warn(describe(branch, height), "switching to a better branch of the network");
    const outcomes = await chain.switchTo(commonHeight, blocks, deps.onForeignHeader);
    const last = present(outcomes.at(-1), "the outcome of a switch");
    if (last.kind === "Accepted") this.#onHeadFetched();
    else
      this.#penalize(present(providers[outcomes.length - 1], "the provider of a block"), last, {
        hasMoved: false,
        isSwitch: true,
      });
    return true;
  }

  /**
   * Handles a better branch beyond the maximum rollback, or below the undo records. Returns false if this node cannot leave its own
   * branch.
   */
  async #discardOwnBranch(branch: Branch, height: number): Promise<boolean> {
    // If signatures were not checked, a single peer could have created this chain.
    if (await this.#deps.chain.discardUnchecked()) return true;
    const reason = isWithinRollback(branch, height)
      ? "below the undo records"
      : "beyond the maximum rollback";
    this.#deps.logger.error(
      { ...describe(branch, height), maxRollback: MAX_ROLLBACK },
      `most peers are on a branch ${reason}: restart with an empty data folder, or from a snapshot`,
    );
    return false;
  }
}

/** Members of a log line about a better branch than ours, whose height is `height`. */
const describe = (branch: Branch, height: number) => ({
  height,
  commonHeight: branch.commonHeight,
  to: branch.height,
  peers: branch.peers.length,
});

const sourceOf = ({ ip, status, verification }: Peer): Source => ({
  ip,
  height: verification.hisHeight,
  isUniknode: status.isUniknode,
});

/** Returns true if the rules refuse the block on its branch, with any clock. */
const isAgainstRules = (outcome: Outcome): boolean =>
  outcome.kind === "Rejected" &&
  // Another error is one of this node, such as a state that cannot be read.
  (outcome.cause === undefined || outcome.cause instanceof RuleError) &&
  !outcome.faults?.some(({ code }) => code === "timestamp");

/** Returns true if no honest node could have accepted the block. */
const isProvablyInvalid = (outcome: Outcome): boolean =>
  outcome.kind === "Unreadable" ||
  (outcome.kind === "Rejected" && outcome.reason === "verification-failed" && isAgainstRules(outcome));

/** Window of the average speed. */
const WINDOW_MS = 30_000;

type Sample = { readonly height: number; readonly at: number };

/** Speed of a synchronisation, on average over a window. */
export class ProgressMeter {
  #samples: readonly Sample[] = [];

  /** @param at milliseconds of a monotonic clock */
  measure(height: number, target: number, at: number): SyncProgress {
    const sample = { height, at };
    // The last sample before the window is the first one of the average.
    const begin = this.#samples.findLastIndex((earlier) => at - earlier.at >= WINDOW_MS);
    this.#samples = [...this.#samples.slice(Math.max(0, begin)), sample];
    const [first = sample] = this.#samples;
    const seconds = (at - first.at) / 1000;
    const blocksPerSecond = seconds > 0 ? Math.max(0, height - first.height) / seconds : 0;
    return {
      target,
      percent: target === 0 ? 100 : Math.floor((100 * Math.min(height, target)) / target),
      blocksPerSecond: Math.round(blocksPerSecond),
      ...(blocksPerSecond > 0 && { secondsLeft: Math.ceil((target - height) / blocksPerSecond) }),
    };
  }
}
