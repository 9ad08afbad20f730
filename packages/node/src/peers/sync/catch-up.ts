/** One round of synchronisation: fetches missing blocks, or switches to a better branch (p2p.md 13 and 14). */
import type { BlockHeader } from "@uniknode/protocol";
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
import { createProgressMeter } from "./progress.ts";

export type CatchUpDeps = {
  readonly chain: Pick<Chain, "acceptFetched" | "canRevertTo" | "discardUnchecked" | "head" | "switchTo">;
  readonly peerTable: PeerTable;
  readonly pingAll: Discovery["pingAll"];
  readonly fetch: Fetch;
  readonly ban: (ip: string, reason: string) => void;
  /** Excludes a peer that did not send the blocks that it claims. */
  readonly suspend: (ip: string) => void;
  /** Ends the exclusion of a peer that sent blocks. */
  readonly reinstate: (ip: string) => void;
  /** Called with headers of other branches, which are not verified. */
  readonly onForeignHeader: (header: BlockHeader) => void;
  /** Called when blocks were fetched, the last of which is the head. */
  readonly onFetched: (head: BlockHeader) => void;
  /** Called when the node is in sync with the network. */
  readonly onSynced: () => void;
  readonly logger: Logger;
};

/** State kept between rounds of synchronisation. */
export type SyncState = {
  readonly deps: CatchUpDeps;
  /** Ends the round early. */
  readonly signal: AbortSignal;
  /** True if the node was at the head of the network in its last round, and is not fetching. */
  isSynced: boolean;
  /** Progress of the last download; reset when the node is in sync. */
  progress: SyncProgress | undefined;
  /** True if another round must follow. */
  isRequested: boolean;
};

/** Results of the sources of a download, by address. */
type Served = {
  /** Sources of accepted blocks. */
  readonly providers: Set<string>;
  /** Number of failed requests. */
  readonly failures: Map<string, number>;
};

/** Peers of one download. */
const MAX_SOURCES = 10;
const MEASURE_INTERVAL_MS = 1_000;
const REPORT_INTERVAL_MS = 5_000;
/** This many missing blocks may be in transit: the node counts as in sync, only the forger waits for them. */
const NEAR_BLOCKS = 5;
/** Failed requests, without a single block, after which a peer is suspended. */
const MAX_FAILED_REQUESTS = 2;
/** Blocks of another branch above our height that are fetched before the switch. */
const BRANCH_LEAD = 10;

/** Pings the peers, then fetches missing blocks or switches the branch. */
export async function catchUp(sync: SyncState): Promise<void> {
  const { deps, signal } = sync;
  await deps.pingAll({ isForced: true, withinMs: TIMES_MS.smallReply, signal });
  if (signal.aborted) return;
  const peers = deps.peerTable.all();
  const ahead = peersAhead(peers, deps.chain.head().height);
  if (ahead.length > 0) await fetchFrom(sync, ahead);
  else if (!(await switchBranch(sync, peers))) markSynced(sync);
}

function markSynced(sync: SyncState): void {
  const { chain, peerTable, logger, onSynced } = sync.deps;
  sync.progress = undefined;
  if (sync.isSynced) return;
  sync.isSynced = true;
  logger.info({ height: chain.head().height, peers: peerTable.all().length }, "Blockchain 100% in sync");
  onSynced();
}

async function fetchFrom(sync: SyncState, ahead: readonly Peer[]): Promise<void> {
  const { chain } = sync.deps;
  const after = chain.head().height;
  const sources = sample(ahead.map(sourceOf), MAX_SOURCES);
  // The median: a single peer with a false claim must not keep the download open.
  const to = networkHeight(sources.map(({ height }) => height));
  // A claim alone does not put the node out of sync: a few blocks must arrive first.
  const target = sync.isSynced ? Math.min(to, after + NEAR_BLOCKS) : to;
  const stopReports = reportProgress(sync, to);
  const served: Served = { providers: new Set(), failures: new Map() };
  try {
    const result = await downloadRange(sync, { after, to: target }, sources, served);
    if (sync.signal.aborted) return;
    if (result.kind === "done" && target < to) sync.isSynced = false;
    if (result.kind === "refused") {
      penalize(sync, result.source, result.outcome, chain.head().height > after);
    }
  } finally {
    stopReports();
  }
  judgeClaims(sync, served);
  if (chain.head().height > after) onHeadFetched(sync);
}

/** Measures and logs the progress towards a height until the returned function is called. */
function reportProgress(sync: SyncState, to: number): () => void {
  const { chain, logger } = sync.deps;
  const meter = createProgressMeter();
  const measure = () => {
    sync.progress = meter.measure(chain.head().height, to, performance.now());
  };
  measure();
  const measuring = setInterval(measure, MEASURE_INTERVAL_MS);
  const report = () => logger.info({ height: chain.head().height, ...sync.progress }, "synchronising");
  const reporting = setInterval(report, REPORT_INTERVAL_MS);
  return () => {
    clearInterval(measuring);
    clearInterval(reporting);
  };
}

/** @param served is filled during the download */
function downloadRange(
  { deps, signal }: SyncState,
  range: { readonly after: number; readonly to: number },
  sources: readonly Source[],
  { providers, failures }: Served,
): Promise<DownloadResult> {
  return download(range, sources, {
    fetch: deps.fetch,
    async accept(blocks, { ip }) {
      const outcomes = await deps.chain.acceptFetched(blocks, { signal, targetHeight: range.to });
      if (outcomes.some(({ kind }) => kind === "Accepted")) providers.add(ip);
      return outcomes;
    },
    onFailure({ ip }, error) {
      deps.logger.debug({ ip, reason: (error as Error).message }, "failed to fetch blocks from a peer");
      failures.set(ip, (failures.get(ip) ?? 0) + 1);
    },
    signal,
  });
}

/** Reinstates peers that sent blocks, and suspends peers that did not. */
function judgeClaims({ deps, signal }: SyncState, { providers, failures }: Served): void {
  for (const ip of providers) deps.reinstate(ip);
  if (signal.aborted) return;
  for (const [ip, count] of failures) {
    if (providers.has(ip) || count < MAX_FAILED_REQUESTS) continue;
    deps.logger.info({ ip }, "peer suspended: it did not send the blocks that it claims");
    deps.suspend(ip);
  }
}

function onHeadFetched(sync: SyncState): void {
  sync.deps.onFetched(sync.deps.chain.head());
  // Other nodes may have forged in the meantime.
  sync.isRequested = true;
}

/** Bans or drops the source of a refused block. `hasMoved`: the head has changed since the start of the download. */
function penalize({ deps }: SyncState, { ip }: Source, outcome: Outcome, hasMoved: boolean): void {
  // The same block may have been posted in the meantime.
  if (hasMoved && (outcome.kind === "Unchained" || outcome.kind === "Discarded")) return;
  deps.logger.warn({ ip, reason: refusalOf(outcome) }, "downloaded block refused");
  if (isProvablyInvalid(outcome)) deps.ban(ip, "it sent an invalid block");
  // Its chain differs from the verified one: it can become a peer again after another verification.
  else deps.peerTable.remove(ip);
}

/** Switches from a wrong branch to the right one; false if no branch is better than ours. */
async function switchBranch(sync: SyncState, peers: readonly Peer[]): Promise<boolean> {
  const { deps, signal } = sync;
  const { chain, logger } = deps;
  const { height } = chain.head();
  const branch = betterBranch(peers, height);
  if (!branch) return false;
  const { commonHeight } = branch;
  if (!isWithinRollback(branch, height) || !chain.canRevertTo(commonHeight)) {
    return discardOwnBranch(sync, branch, height);
  }
  sync.isSynced = false;
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
  if (last.kind === "Accepted") onHeadFetched(sync);
  else penalize(sync, present(providers[outcomes.length - 1], "the provider of a block"), last, false);
  return true;
}

/**
 * Handles a better branch beyond the maximum rollback, or below the undo records. Returns false if this node cannot leave its own
 * branch.
 */
async function discardOwnBranch({ deps }: SyncState, branch: Branch, height: number): Promise<boolean> {
  // If signatures were not checked, a single peer could have created this chain.
  if (await deps.chain.discardUnchecked()) return true;
  const reason = isWithinRollback(branch, height) ? "below the undo records" : "beyond the maximum rollback";
  deps.logger.error(
    { ...describe(branch, height), maxRollback: MAX_ROLLBACK },
    `most peers are on a branch ${reason}: restart with an empty data folder, or from a snapshot`,
  );
  return false;
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

/** Returns true if no honest node could have accepted the block, with any clock. */
const isProvablyInvalid = (outcome: Outcome): boolean =>
  outcome.kind === "Unreadable" ||
  (outcome.kind === "Rejected" &&
    outcome.reason === "verification-failed" &&
    !outcome.faults?.some(({ code }) => code === "timestamp"));
