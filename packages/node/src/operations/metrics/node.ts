/** Metrics of the chain, the pool, the peers, the forger and the facts. A scrape returns them in the order of creation. */
import type { NodeFigures } from "../../gateway/figures.ts";
import type { LoopDelay } from "../../platform/lifecycle/event-loop.ts";
import { Counter, createCounter, createGauge, type Registry, showTotal } from "./instruments.ts";
import { createMirrorMetrics } from "./other-processes.ts";
import { createPeerBoundsMetrics } from "./peer-bounds.ts";
import { createThreadMetrics, createUsageMetrics } from "./process.ts";

type NodeMetrics = {
  /** @param figures undefined if the consensus thread did not reply */
  showNode(figures: NodeFigures | undefined): void;
  showServing(delay: LoopDelay): void;
};

type Show = (figures: NodeFigures) => void;

export function createNodeMetrics(registry: Registry, version: string): NodeMetrics {
  const showUsage = createUsageMetrics(registry, version);
  const showThread = createThreadMetrics(registry);
  const isResponding = createGauge(
    registry,
    "uniknode_consensus_up",
    "1 if the consensus thread responds, else 0.",
  );
  const shows: readonly Show[] = [
    createChainMetrics(registry),
    createPoolMetrics(registry),
    createPeerMetrics(registry),
    createForgerMetrics(registry),
    createFactMetrics(registry),
    showMirrorOf(registry),
  ];
  return {
    showNode(figures) {
      isResponding.set(figures ? 1 : 0);
      if (!figures) return;
      for (const show of shows) show(figures);
      showThread("consensus", figures.heapBytes, figures.loopDelay);
    },
    showServing(loopDelay) {
      showUsage();
      showThread("serving", process.memoryUsage().heapUsed, loopDelay);
    },
  };
}

function createChainMetrics(registry: Registry): Show {
  const height = createGauge(registry, "uniknode_chain_height", "Height of the head.");
  const age = createGauge(
    registry,
    "uniknode_chain_head_age_seconds",
    "Network time since the head was forged.",
  );
  const behind = createGauge(
    registry,
    "uniknode_chain_blocks_behind",
    "Blocks that the node is behind the network.",
  );
  const synced = createGauge(registry, "uniknode_chain_synced", "1 if the node is in sync, else 0.");
  const percent = createGauge(
    registry,
    "uniknode_sync_percent",
    "Share of the network's blocks that the node has.",
  );
  const pace = createGauge(
    registry,
    "uniknode_sync_blocks_per_second",
    "Blocks fetched and applied per second; 0 when in sync.",
  );
  const left = createGauge(
    registry,
    "uniknode_sync_left_seconds",
    "Estimated time until the node is in sync; 0 when in sync.",
  );

  return (figures) => {
    height.set(figures.height);
    age.set(figures.headAgeSeconds);
    behind.set(figures.blocksBehind);
    synced.set(figures.synced ? 1 : 0);
    const { progress } = figures;
    percent.set(progress?.percent ?? 100);
    pace.set(progress?.blocksPerSecond ?? 0);
    left.set(progress ? (progress.secondsLeft ?? Number.NaN) : 0);
  };
}

function createPoolMetrics(registry: Registry): Show {
  const size = createGauge(registry, "uniknode_pool_transactions", "Pending transactions.");
  const bytes = createGauge(registry, "uniknode_pool_bytes", "Bytes of the pending transactions.");
  const examined = createGauge(
    registry,
    "uniknode_pool_examined_transactions",
    "Transactions being checked for admission to the pool.",
  );
  const unchecked = createGauge(
    registry,
    "uniknode_pool_unchecked_transactions",
    "Pending transactions that wait for a recheck after a change of the chain.",
  );
  const recheckUsed = createCounter(
    registry,
    "uniknode_pool_recheck_seconds_total",
    "Consensus thread time used by rechecks of pending transactions.",
  );
  const refused = new Counter({
    name: "uniknode_pool_refusals_total",
    help: "Transactions refused by the pool, by reason.",
    labelNames: ["reason"],
    registers: [registry],
  });
  const admissionUsed = createCounter(
    registry,
    "uniknode_admission_seconds_total",
    "Consensus thread time used by submissions.",
  );
  const admissionBudget = createGauge(
    registry,
    "uniknode_admission_budget_seconds",
    "Consensus thread time available to submissions per slot.",
  );
  const admissionExhausted = createCounter(
    registry,
    "uniknode_admission_exhausted_slots_total",
    "Slots in which submissions exhausted their time and waited for the next slot.",
  );

  return (figures) => {
    size.set(figures.poolSize);
    bytes.set(figures.poolBytes);
    examined.set(figures.poolWaiting);
    unchecked.set(figures.poolUnchecked);
    showTotal(recheckUsed, figures.poolRecheckMs / 1_000);
    showByReason(refused, figures.poolRefused);
    const { admission } = figures;
    showTotal(admissionUsed, admission.usedMs / 1_000);
    admissionBudget.set(admission.perSlotMs / 1_000);
    showTotal(admissionExhausted, admission.exhaustedSlots);
  };
}

function createPeerMetrics(registry: Registry): Show {
  const peers = createGauge(registry, "uniknode_peers", "Known peers.");
  const received = createCounter(
    registry,
    "uniknode_peers_received_bytes_total",
    "Bytes received from other nodes.",
  );
  const sent = createCounter(registry, "uniknode_peers_sent_bytes_total", "Bytes sent to other nodes.");
  const bounds = createPeerBoundsMetrics(registry);

  return (figures) => {
    peers.set(figures.peers);
    showTotal(received, figures.traffic.receivedBytes);
    showTotal(sent, figures.traffic.sentBytes);
    if (figures.peerBounds) bounds.show(figures.peerBounds);
  };
}

function createForgerMetrics(registry: Registry): Show {
  const forged = createCounter(
    registry,
    "uniknode_forger_blocks_forged_total",
    "Blocks forged by this process.",
  );
  const missed = createCounter(
    registry,
    "uniknode_forger_slots_missed_total",
    "Missed slots of this node's delegates.",
  );
  const refused = new Counter({
    name: "uniknode_forger_refusals_total",
    help: "Slots of this node's delegates that were not signed, by reason.",
    labelNames: ["reason"],
    registers: [registry],
  });
  const elsewhere = createGauge(
    registry,
    "uniknode_forger_keys_used_elsewhere",
    "Keys of this node with which another forger also signs.",
  );

  return (figures) => {
    showTotal(forged, figures.forged);
    showTotal(missed, figures.missed);
    showByReason(refused, figures.refused);
    elsewhere.set(figures.keysUsedElsewhere);
  };
}

/** A node without a mirror has no metrics of one: they would look like those of a mirror that is down. */
function showMirrorOf(registry: Registry): Show {
  let show: ReturnType<typeof createMirrorMetrics> | undefined;
  return ({ mirror }) => {
    if (!mirror) return;
    show ??= createMirrorMetrics(registry);
    show(mirror);
  };
}

function createFactMetrics(registry: Registry): Show {
  const size = createGauge(registry, "uniknode_facts_leaves", "Leaves of the Merkle tree of final facts.");
  const height = createGauge(
    registry,
    "uniknode_facts_height",
    "Height of the last block in the Merkle tree of final facts.",
  );
  const lag = createGauge(
    registry,
    "uniknode_facts_blocks_behind",
    "Final blocks not yet in the Merkle tree of final facts.",
  );
  const compared = new Counter({
    name: "uniknode_facts_comparisons_total",
    help: "Comparisons of the Merkle tree of final facts with other nodes, by outcome.",
    labelNames: ["outcome"],
    registers: [registry],
  });
  const diverged = createGauge(
    registry,
    "uniknode_facts_diverged",
    "Nodes whose Merkle tree of final facts differs.",
  );

  return ({ facts, comparison }) => {
    size.set(facts.size);
    height.set(facts.height);
    lag.set(facts.lag);
    const { agreed = 0, differed = 0, failed = 0, differing = 0 } = comparison ?? {};
    compared.reset();
    for (const [outcome, total] of Object.entries({ agreed, differed, failed })) {
      compared.inc({ outcome }, total);
    }
    diverged.set(differing);
  };
}

/** Shows totals by reason that are counted elsewhere. */
function showByReason(totals: Counter<"reason">, figures: Readonly<Record<string, number>>): void {
  totals.reset();
  for (const [reason, total] of Object.entries(figures)) totals.inc({ reason }, total);
}
