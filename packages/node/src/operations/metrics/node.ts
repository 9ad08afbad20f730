/** Metrics of the chain, the forger, the pool and the threads. */

import type { NodeFigures } from "../../gateway/figures.ts";
import type { LoopDelay } from "../../platform/lifecycle/loop-delay.ts";
import { Counter, Gauge, type Registry } from "./instruments.ts";
import { createPeerBoundsMetrics } from "./peer-bounds.ts";
import { showTotal } from "./total.ts";

export type NodeMetrics = {
  /** @param figures undefined if the consensus thread did not reply */
  showNode(figures: NodeFigures | undefined): void;
  showServing(delay: LoopDelay): void;
};

export function createNodeMetrics(registry: Registry, version: string): NodeMetrics {
  const registers = [registry];
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const counter = (name: string, help: string) => new Counter({ name, help, registers });

  const build = new Gauge({
    name: "uniknode_build_info",
    help: "Always 1; the label has the version.",
    labelNames: ["version"],
    registers,
  });
  build.set({ version }, 1);
  const started = gauge(
    "uniknode_process_start_time_seconds",
    "Start time of the process, Unix time in seconds.",
  );
  started.set(Date.now() / 1_000 - process.uptime());
  const memory = gauge("uniknode_process_resident_memory_bytes", "Memory of the process.");
  const cpu = counter("uniknode_process_cpu_seconds_total", "CPU time of the process.");
  const heap = new Gauge({
    name: "uniknode_heap_used_bytes",
    help: "Heap of each thread.",
    labelNames: ["thread"],
    registers,
  });
  const delay = new Gauge({
    name: "uniknode_event_loop_delay_seconds",
    help: "Delay of timers since the last scrape, by thread.",
    labelNames: ["thread", "statistic"],
    registers,
  });

  const isAnswering = gauge("uniknode_consensus_up", "1 if the consensus thread responds, else 0.");
  const height = gauge("uniknode_chain_height", "Height of the head.");
  const age = gauge("uniknode_chain_head_age_seconds", "Network time since the head was forged.");
  const behind = gauge("uniknode_chain_blocks_behind", "Blocks that the node is behind the network.");
  const synced = gauge("uniknode_chain_synced", "1 if the node is in sync, else 0.");
  const percent = gauge("uniknode_sync_percent", "Share of the network's blocks that the node has.");
  const pace = gauge(
    "uniknode_sync_blocks_per_second",
    "Blocks fetched and applied per second; 0 when in sync.",
  );
  const left = gauge(
    "uniknode_sync_left_seconds",
    "Estimated time until the node is in sync; 0 when in sync.",
  );
  const pool = gauge("uniknode_pool_transactions", "Pending transactions.");
  const poolBytes = gauge("uniknode_pool_bytes", "Bytes of the pending transactions.");
  const poolWaiting = gauge(
    "uniknode_pool_examined_transactions",
    "Transactions being checked for admission to the pool.",
  );
  const poolRefused = new Counter({
    name: "uniknode_pool_refusals_total",
    help: "Transactions refused by the pool, by reason.",
    labelNames: ["reason"],
    registers,
  });
  const admissionUsed = counter(
    "uniknode_admission_seconds_total",
    "Consensus thread time used by submissions.",
  );
  const admissionBudget = gauge(
    "uniknode_admission_budget_seconds",
    "Consensus thread time available to submissions per slot.",
  );
  const admissionExhausted = counter(
    "uniknode_admission_exhausted_slots_total",
    "Slots in which submissions exhausted their time and waited for the next slot.",
  );
  const peers = gauge("uniknode_peers", "Known peers.");
  const received = counter("uniknode_peers_received_bytes_total", "Bytes received from other nodes.");
  const sent = counter("uniknode_peers_sent_bytes_total", "Bytes sent to other nodes.");
  const peerBounds = createPeerBoundsMetrics(registry);
  const forged = counter("uniknode_forger_blocks_forged_total", "Blocks forged by this process.");
  const missed = counter("uniknode_forger_slots_missed_total", "Missed slots of this node's delegates.");
  const refused = new Counter({
    name: "uniknode_forger_refusals_total",
    help: "Slots of this node's delegates that were not signed, by reason.",
    labelNames: ["reason"],
    registers,
  });
  const elsewhere = gauge(
    "uniknode_forger_keys_used_elsewhere",
    "Keys of this node with which another forger also signs.",
  );
  const factsSize = gauge("uniknode_facts_leaves", "Leaves of the Merkle tree of final facts.");
  const factsHeight = gauge(
    "uniknode_facts_height",
    "Height of the last block in the Merkle tree of final facts.",
  );
  const factsLag = gauge(
    "uniknode_facts_blocks_behind",
    "Final blocks not yet in the Merkle tree of final facts.",
  );
  const compared = new Counter({
    name: "uniknode_facts_comparisons_total",
    help: "Comparisons of the Merkle tree of final facts with other nodes, by outcome.",
    labelNames: ["outcome"],
    registers,
  });
  const differing = gauge("uniknode_facts_diverged", "Nodes whose Merkle tree of final facts differs.");

  function showDelay(thread: string, { p50, p99, max }: LoopDelay): void {
    delay.set({ thread, statistic: "p50" }, p50);
    delay.set({ thread, statistic: "p99" }, p99);
    delay.set({ thread, statistic: "max" }, max);
  }

  /** Totals by reason that are counted elsewhere. */
  function showEach(totals: Counter<"reason">, figures: Readonly<Record<string, number>>): void {
    totals.reset();
    for (const [reason, total] of Object.entries(figures)) totals.inc({ reason }, total);
  }

  return {
    showNode(figures) {
      isAnswering.set(figures ? 1 : 0);
      if (!figures) return;
      height.set(figures.height);
      age.set(figures.headAgeSeconds);
      behind.set(figures.blocksBehind);
      synced.set(figures.synced ? 1 : 0);
      const { progress } = figures;
      percent.set(progress?.percent ?? 100);
      pace.set(progress?.blocksPerSecond ?? 0);
      left.set(progress ? (progress.secondsLeft ?? Number.NaN) : 0);
      pool.set(figures.poolSize);
      poolBytes.set(figures.poolBytes);
      poolWaiting.set(figures.poolWaiting);
      showEach(poolRefused, figures.poolRefused);
      showTotal(admissionUsed, figures.admission.usedMs / 1_000);
      admissionBudget.set(figures.admission.perSlotMs / 1_000);
      showTotal(admissionExhausted, figures.admission.exhaustedSlots);
      peers.set(figures.peers);
      showTotal(received, figures.traffic.receivedBytes);
      showTotal(sent, figures.traffic.sentBytes);
      if (figures.peerBounds) peerBounds.show(figures.peerBounds);
      showTotal(forged, figures.forged);
      showTotal(missed, figures.missed);
      showEach(refused, figures.refused);
      elsewhere.set(figures.keysUsedElsewhere);
      factsSize.set(figures.facts.size);
      factsHeight.set(figures.facts.height);
      factsLag.set(figures.facts.lag);
      const { agreed = 0, differed = 0, failed = 0, differing: nodes = 0 } = figures.comparison ?? {};
      compared.reset();
      for (const [outcome, total] of Object.entries({ agreed, differed, failed })) {
        compared.inc({ outcome }, total);
      }
      differing.set(nodes);
      heap.set({ thread: "consensus" }, figures.heapBytes);
      showDelay("consensus", figures.loopDelay);
    },
    showServing(loopDelay) {
      const { user, system } = process.cpuUsage();
      showTotal(cpu, (user + system) / 1e6);
      memory.set(process.memoryUsage.rss());
      heap.set({ thread: "serving" }, process.memoryUsage().heapUsed);
      showDelay("serving", loopDelay);
    },
  };
}
