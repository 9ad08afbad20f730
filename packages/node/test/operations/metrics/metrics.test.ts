import { expect, test } from "vitest";
import { type Figures, Metrics } from "../../../src/operations/metrics/metrics.ts";
import { FIGURES, FIGURES_WITH_MIRROR } from "./figures.ts";

const NOW_MS = 100_000;
const LATER = { ...FIGURES, node: { ...FIGURES.node, height: 18, forged: 8 } };

/** Samples of a page by name and labels. */
async function samples(metrics: Metrics, figures: Figures = FIGURES) {
  const text = await metrics.page(figures, NOW_MS);
  return Object.fromEntries(
    text
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line): [string, number] => {
        const end = line.lastIndexOf(" ");
        return [line.slice(0, end), Number(line.slice(end + 1))];
      }),
  );
}

test("The metrics show values that are read on demand.", async () => {
  expect(await samples(new Metrics("1.2.3"))).toMatchObject({
    'uniknode_build_info{version="1.2.3"}': 1,
    uniknode_consensus_up: 1,
    uniknode_chain_height: 17,
    uniknode_chain_head_age_seconds: 3,
    uniknode_chain_blocks_behind: 4,
    uniknode_chain_synced: 0,
    uniknode_chain_reverted_blocks_total: 11,
    uniknode_sync_percent: 80,
    uniknode_sync_blocks_per_second: 8,
    uniknode_sync_left_seconds: 9,
    uniknode_pool_transactions: 5,
    uniknode_pool_bytes: 51,
    uniknode_pool_examined_transactions: 52,
    uniknode_pool_unchecked_transactions: 55,
    uniknode_pool_recheck_seconds_total: 56.5,
    uniknode_admission_seconds_total: 53.5,
    uniknode_admission_budget_seconds: 4.8,
    uniknode_admission_exhausted_slots_total: 54,
    'uniknode_pool_refusals_total{reason="ERR_APPLY"}': 53,
    uniknode_peers: 6,
    uniknode_peers_received_bytes_total: 61,
    uniknode_peers_sent_bytes_total: 62,
    uniknode_peers_sessions: 63,
    uniknode_peers_sessions_unfinished: 64,
    uniknode_peers_banned: 65,
    'uniknode_peers_sessions_refused_total{reason="subnet"}': 66,
    'uniknode_peers_sessions_refused_total{reason="total"}': 67,
    'uniknode_peers_sessions_cut_total{reason="handshake"}': 68,
    uniknode_peers_sessions_evicted_total: 69,
    'uniknode_peers_posts_dropped_total{content="block"}': 70,
    uniknode_forger_blocks_forged_total: 7,
    uniknode_forger_slots_missed_total: 2,
    'uniknode_forger_refusals_total{reason="signed_before"}': 31,
    'uniknode_forger_refusals_total{reason="head_in_future"}': 35,
    uniknode_forger_keys_used_elsewhere: 34,
    uniknode_facts_leaves: 81,
    uniknode_facts_height: 82,
    uniknode_facts_blocks_behind: 83,
    'uniknode_event_loop_delay_seconds{thread="consensus",statistic="p99"}': 0.02,
    'uniknode_event_loop_delay_seconds{thread="serving",statistic="max"}': 0.6,
    'uniknode_heap_used_bytes{thread="consensus"}': 1_000,
    'uniknode_webhook_deliveries_fired_total{webhook="1"}': 41,
    'uniknode_webhook_deliveries_fired_total{webhook="2"}': 42,
    'uniknode_webhook_deliveries_total{webhook="1",outcome="failed"}': 0,
    'uniknode_webhooks{state="active"}': 3,
    'uniknode_webhooks{state="disabled"}': 1,
    'uniknode_webhooks{state="suspended"}': 2,
    uniknode_webhook_matcher_lag_events: 9,
    uniknode_webhook_matcher_lag_seconds: 10,
    'uniknode_webhook_queue_length{webhook="1",state="waiting"}': 11,
    'uniknode_webhook_queue_length{webhook="1",state="retrying"}': 12,
    'uniknode_webhook_queue_length{webhook="1",state="replaying"}': 13,
    'uniknode_webhook_queue_length{webhook="2",state="waiting"}': 0,
    'uniknode_webhook_queue_oldest_age_seconds{webhook="1"}': 20,
    'uniknode_webhook_queue_oldest_age_seconds{webhook="2"}': 0,
    'uniknode_thread_calls{thread="consensus"}': 16,
    'uniknode_thread_calls_timed_out_total{thread="consensus"}': 17,
    'uniknode_thread_calls_refused_total{thread="slow"}': 20,
    uniknode_streams: 14,
    uniknode_console_sessions: 75,
    uniknode_webhook_nats_connections: 74,
    uniknode_feed_responses: 77,
    uniknode_feed_sent_characters_total: 78,
    uniknode_feed_events_sent_total: 109,
    uniknode_feed_events_uncopied: 110,
    uniknode_console_links: 76,
    uniknode_streams_cut_total: 15,
    'uniknode_log_lines_lost_total{thread="consensus"}': 71,
    'uniknode_log_lines_lost_total{thread="serving"}': 72,
    uniknode_disk_failed_writes_total: 73,
    uniknode_disk_free_bytes: 74,
  });
});

test("The metrics show a node in sync as one that has every block.", async () => {
  const { progress: _, ...node } = FIGURES.node;
  expect(await samples(new Metrics("1"), { ...FIGURES, node })).toMatchObject({
    uniknode_sync_percent: 100,
    uniknode_sync_blocks_per_second: 0,
    uniknode_sync_left_seconds: 0,
  });
});

test("The metrics show the latest figures, and none of a thread that does not respond.", async () => {
  const metrics = new Metrics("1.2.3");
  await samples(metrics);
  expect(await samples(metrics, LATER)).toMatchObject({
    uniknode_chain_height: 18,
    uniknode_forger_blocks_forged_total: 8,
    'uniknode_webhook_deliveries_fired_total{webhook="1"}': 41,
  });
  const dead = await samples(metrics, { ...LATER, node: undefined });
  expect(dead).toMatchObject({ uniknode_consensus_up: 0, uniknode_chain_height: 18, uniknode_streams: 14 });
});

test("The metrics show the mirror of a node that has one.", async () => {
  const ofMirror = async (figures: Figures) =>
    Object.entries(await samples(new Metrics("1"), figures)).filter(([name]) => name.includes("mirror"));
  expect(await ofMirror(FIGURES)).toEqual([]);
  expect(await ofMirror(FIGURES_WITH_MIRROR)).toEqual([
    ["uniknode_mirror_up", 1],
    ["uniknode_mirror_starts_total", 108],
    ["uniknode_mirror_height", 16],
    ["uniknode_mirror_last_event", 111],
    ["uniknode_mirror_event_gaps_total", 112],
  ]);
});

test("The metrics have no gaps of a mirror before it has read them: a 0 would be followed by an increase.", async () => {
  const metrics = new Metrics("1");
  const gapsAfter = async (eventGaps: number | undefined) => {
    const node = { ...FIGURES_WITH_MIRROR.node, mirror: { ...FIGURES_WITH_MIRROR.node.mirror, eventGaps } };
    return (await samples(metrics, { ...FIGURES_WITH_MIRROR, node })).uniknode_mirror_event_gaps_total;
  };
  expect(await gapsAfter(undefined)).toBeUndefined();
  expect(await gapsAfter(3)).toBe(3);
  expect(await gapsAfter(4)).toBe(4);
});

test("An empty queue has no age.", async () => {
  const queues = new Map([[1, { waiting: 0, retrying: 0, replaying: 5 }]]);
  const { unmatchedSinceMs: _since, ...webhooks } = FIGURES.webhooks;
  expect(await samples(new Metrics("1"), { ...FIGURES, queues, webhooks })).toMatchObject({
    'uniknode_webhook_queue_oldest_age_seconds{webhook="1"}': 0,
    uniknode_webhook_matcher_lag_seconds: 0,
  });
});

test("The metrics show no sample of a removed webhook.", async () => {
  const metrics = new Metrics("1");
  metrics.webhooks.decided(2, "failed");
  const of2 = async (figures: Figures) =>
    Object.keys(await samples(metrics, figures)).filter((name) => name.includes('webhook="2"'));
  expect(await of2(FIGURES)).toHaveLength(8);
  expect(await of2({ ...FIGURES, fired: new Map([[1, 41]]) })).toEqual([]);
});

test("The metrics count attempts by the class of their response, and by outcome.", async () => {
  const metrics = new Metrics("1");
  metrics.webhooks.attempted({ startedMs: 0, durationMs: 30, status: 204 });
  metrics.webhooks.attempted({ startedMs: 0, durationMs: 3_000, status: 503, reason: "HTTP 503" });
  metrics.webhooks.attempted({ startedMs: 0, durationMs: 9_000, error: "ETIMEDOUT", reason: "x" });
  metrics.webhooks.decided(1, "delivered");
  metrics.webhooks.decided(1, "retried");
  metrics.webhooks.decided(2, "retried");
  metrics.webhooks.decided(1, "failed");
  const shown = await samples(metrics);
  const bucket = (response: string, le: string) =>
    shown[`uniknode_webhook_attempt_duration_seconds_bucket{le="${le}",status="${response}"}`];
  expect([bucket("2xx", "0.025"), bucket("2xx", "0.1")]).toEqual([0, 1]);
  expect([bucket("5xx", "2.5"), bucket("5xx", "5")]).toEqual([0, 1]);
  expect([bucket("none", "5"), bucket("none", "10")]).toEqual([0, 1]);
  expect(shown).toMatchObject({
    'uniknode_webhook_deliveries_total{webhook="1",outcome="delivered"}': 1,
    'uniknode_webhook_deliveries_total{webhook="1",outcome="retried"}': 1,
    'uniknode_webhook_deliveries_total{webhook="2",outcome="retried"}': 1,
    'uniknode_webhook_deliveries_total{webhook="1",outcome="failed"}': 1,
  });
});

test("The metrics count responses by route, with a bounded number of routes.", async () => {
  const metrics = new Metrics("1");
  const request = { method: "GET", status: 200, seconds: 0.01 };
  metrics.http.responded({ ...request, route: "/api/blocks/:id" });
  metrics.http.responded({ ...request, route: "/api/v2/blocks/:id" });
  metrics.http.responded({ ...request, route: undefined, status: 404, method: "BREW" });
  expect(await samples(metrics)).toMatchObject({
    'uniknode_http_requests_total{method="GET",route="/api/blocks/:id",status="200"}': 2,
    'uniknode_http_requests_total{method="other",route="none",status="404"}': 1,
    'uniknode_http_request_duration_seconds_count{route="/api/blocks/:id"}': 2,
  });
});
