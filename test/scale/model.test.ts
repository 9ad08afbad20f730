/** The model of `npm run scale`, with costs and loads that are easy to compute by hand. */
import { expect, test } from "vitest";
import { type Costs, costs, MEASURED } from "../../tools/scale/costs.ts";
import { DEFAULTS, InputError, type Inputs, readInputs } from "../../tools/scale/inputs.ts";
import { FIXED } from "../../tools/scale/model/fixed.ts";
import type { Kind } from "../../tools/scale/model/groups.ts";
import { planOf } from "../../tools/scale/model/plan.ts";
import { ratesOf } from "../../tools/scale/model/rates.ts";
import { amount, linesOf, tableOf } from "../../tools/scale/tables.ts";

/** Every cost is 100 us, 1,000 bytes, 100 MB, or 2 facts. */
const ROUND = Object.fromEntries(
  Object.keys(costs).map((name) => {
    if (name.endsWith("Us")) return [name, name === "nodeTransactionUs" ? 300 : 100];
    if (name.endsWith("Bytes")) return [name, 1_000];
    return [name, name.endsWith("Facts") ? 2 : 100];
  }),
) as Costs;

const SECONDS_PER_YEAR = 31_557_600;
/** One block a second, with 10 transactions and 100 deliveries; 1,000 requests a second, a tenth of them pages. */
const LOAD: Inputs = {
  ...DEFAULTS,
  readers: 60_000,
  requestsPerMinute: 1,
  pageShare: 0.1,
  peak: 1,
  streams: 10,
  wallets: 1_000,
  webhooks: 200,
  deliveriesPerBlock: 100,
  attempts: 2,
  receiverMs: 500,
  transfersPerBlock: 10,
  blocksPerYear: SECONDS_PER_YEAR,
  years: 2,
  cores: 4,
  load: 0.5,
  networkMbit: 100,
  diskGb: 1_000,
  logDays: 1,
  logSize: 1_000_000,
};

const groupOf = (inputs: Inputs, kind: Kind) =>
  planOf(inputs, ROUND).groups.find((group) => group.kind === kind);
const limitOf = (inputs: Inputs, name: string) =>
  planOf(inputs, ROUND).limits.find((limit) => limit.name === name);

test("The demand is computed per second.", () => {
  expect(planOf(LOAD, ROUND).demand).toEqual({
    blocks: 1,
    transfers: 10,
    resources: 900,
    pages: 100,
    connections: 10_000,
    deliveries: 100,
    calls: 200,
    events: 11,
  });
});

test("Cores are the demand times the costs.", () => {
  const { cores } = planOf(LOAD, ROUND);
  // A block and 10 transactions of 100 us.
  expect(cores.consensus).toBeCloseTo(0.0011);
  expect(cores.mirror).toBeCloseTo(0.0011);
  // 200 us of each transaction are not of consensus.
  expect(cores.submissions).toBeCloseTo(0.002);
  // 10 streams get 11 events.
  expect(cores.streams).toBeCloseTo(0.011);
  // A block, 10 transactions and 200 calls.
  expect(cores.primary).toBeCloseTo(0.0211);
  expect(cores.workers).toBeCloseTo(0.02);
  expect([cores.servers, cores.replicas]).toEqual([0.1, 0.1]);
});

test("The disks grow with the blocks, and the log of deliveries is bounded.", () => {
  const { disks } = planOf(LOAD, ROUND);
  const blocks = 2 * SECONDS_PER_YEAR;
  // 100 deliveries a second for a day would be 8,640,000.
  expect(disks.loggedDeliveries).toBe(1_000_000);
  expect(disks.loggedDays).toBeCloseTo(1 / 8.64);
  expect(disks.facts).toBe(blocks * 22);
  // A block, 10 transactions and 22 facts, each 1,000 bytes.
  expect(disks.node).toBe(1_000 * (33 * blocks + 1_000));
  expect(disks.postgres).toBe(1_000 * (11 * blocks + 1_000 + 1_000_000));
  expect(planOf({ ...LOAD, logSize: 1e8 }, ROUND).disks.loggedDeliveries).toBe(8_640_000);
});

test("Time to catch up is the time of one core.", () => {
  const { catchUp } = planOf(LOAD, ROUND);
  // 1.1 ms for each block and its transactions; PostgreSQL as much again.
  expect(catchUp.nodeHours).toBeCloseTo((2 * SECONDS_PER_YEAR * 0.0011) / 3_600);
  expect(catchUp.mirrorHours).toBeCloseTo(2 * catchUp.nodeHours);
});

test("The rate of a core is the inverse of the cost.", () => {
  const rates = ratesOf(ROUND).map(({ process, perSecond }) => [process, perSecond]);
  expect(rates).toContainEqual(["delivery worker", 10_000]);
  expect(rates).toContainEqual(["mirror, in turns with PostgreSQL", 5_000]);
});

test("Processes and machines fit the planned load of their cores.", () => {
  // 5.5 cores at a load of 0.5 are 11 processes, on 3 machines of 4 cores.
  const inputs = { ...LOAD, readers: 55 * 60_000, networkMbit: 10_000 };
  expect(groupOf(inputs, "server")).toMatchObject({ processes: 11, machines: 3, cores: 5.5 });
  expect(groupOf(inputs, "server")?.share).toBeCloseTo(5.5 / 12);
  // PostgreSQL uses all cores of a machine: 2 of 4 are planned.
  expect(groupOf(inputs, "replica")).toMatchObject({ processes: 3, machines: 3 });
  expect(groupOf(inputs, "mirror")).toMatchObject({ processes: 1, machines: 0 });
});

test("Workers have a socket for each webhook, and a place for each concurrent call.", () => {
  expect(groupOf({ ...LOAD, webhooks: 100_000 }, "worker")).toMatchObject({
    processes: 2,
    connections: 50_261,
  });
  // 200 calls a second of 10 s are 2,000, of which 200 have places of their webhooks.
  expect(groupOf({ ...LOAD, receiverMs: 10_000 }, "worker")).toMatchObject({ processes: 8 });
});

test("API servers have sockets for all readers, who keep their connections for 10 s.", () => {
  // 1,000 requests a second of 60,000 readers.
  expect(groupOf(LOAD, "server")).toMatchObject({ processes: 1, connections: 10_010, memoryMb: 110 });
  // Of 600,000 readers at 10,000 requests a second, 100,000 are connected.
  const inputs = { ...LOAD, readers: 600_000, load: 1, pageShare: 0 };
  expect(groupOf(inputs, "server")).toMatchObject({ processes: 2, connections: 50_010 });
});

test("The network of machines is planned as well.", () => {
  // 1,000 responses of 1,000 bytes are 8 Mbit/s; 62.5 times as many need 10 machines of 50 Mbit/s.
  const inputs = { ...LOAD, readers: 62.5 * 60_000 };
  expect(groupOf(LOAD, "replica")).toMatchObject({ processes: 1, sentMbit: 8 });
  expect(groupOf(inputs, "replica")).toMatchObject({ processes: 10, sentMbit: 500 });
  expect(groupOf(inputs, "server")).toMatchObject({ machines: 10 });
});

test("Without readers and deliveries, nothing serves them.", () => {
  const inputs = { ...LOAD, readers: 0, deliveriesPerBlock: 0, streams: 0 };
  expect(groupOf(inputs, "server")).toMatchObject({ processes: 0, machines: 0, share: 0 });
  expect(groupOf(inputs, "worker")).toMatchObject({ processes: 0, connections: 0 });
  expect(groupOf(inputs, "replica")).toMatchObject({ processes: 0, connections: 0 });
  for (const { share } of planOf(inputs, ROUND).limits) expect(share).toBeGreaterThanOrEqual(0);
});

test.each([
  ["execution on one consensus node", 0.0011, 0.5],
  ["transactions in a block", 10, FIXED.transfers],
  ["writes of one mirror", 0.0011, 0.5],
  ["writes of one primary", 0.0211, 2],
  ["replicas of one primary", 1, 10],
  // 1,000 bytes for each block, transaction and delivery.
  ["sockets of one API server", 10_010, 65_536],
  ["network of the primary", 0.888, 50],
  ["live streams of one node", 10, 200],
  ["HTTP of one node", 0.013, 0.5],
  ["webhooks of one register", 200, 10_000],
  ["delivery workers of one database", 1, 32],
  // One for each webhook, and 256 and 5 others.
  ["sockets of one worker", 461, 65_536],
  // 200 calls a second of 0.5 s; one for each webhook, and 256.
  ["concurrent calls of all workers", 100, 456],
  ["disk of the node", 2_082.8, 1_000],
  ["disk of the primary and of each replica", 695.27, 1_000],
])('The limit "%s" is used by %d of %d.', (name, used, available) => {
  const limit = limitOf(LOAD, name);
  expect(limit?.used).toBeCloseTo(used, used < 1 ? 5 : used > 500 ? -1 : 0);
  expect(limit?.available).toBe(available);
  expect(limit?.share).toBeCloseTo((limit?.used ?? 0) / available);
});

test("Limits are sorted by their use, and each has a remedy.", () => {
  const { limits } = planOf(LOAD, ROUND);
  expect(limits).toHaveLength(15);
  expect(limits[0]?.name).toBe("disk of the node");
  expect(limits.map(({ share }) => share)).toEqual(
    limits.map(({ share }) => share).toSorted((a, b) => b - a),
  );
  for (const { remedy } of limits) expect(remedy).toMatch(/\w/);
});

test("The tables name the first limit, and what to do.", () => {
  const lines = linesOf(planOf(LOAD, ROUND));
  expect(lines.at(-1)).toMatch(/^Exceeded first: disk of the node\. What to do: a larger disk/);
  expect(linesOf(planOf({ ...LOAD, years: 0 }, ROUND)).at(-1)).toBe(
    'The first limit is "concurrent calls of all workers", at 4.6 times this load. What to do then: more workers; receivers that store a message and respond at once.',
  );
  expect(lines.find((line) => line.startsWith("API servers"))).toMatch(/^API servers +1 +1 +0\.1 +2\.5 %/);
});

test("Columns of numbers are aligned on the right.", () => {
  expect(
    tableOf([
      ["name", "n", "note"],
      ["a", "10", "x"],
      ["bb", "5", "y"],
    ]),
  ).toEqual(
    ["name  n   note", "a     10  x", "bb     5  y"].map((line, index) =>
      index === 0 ? "name   n  note" : line,
    ),
  );
  expect([amount(0.00114), amount(12.34), amount(1_234.5)]).toEqual(["0.0011", "12", "1,235"]);
});

test("Inputs are numbers within their bounds.", () => {
  const values = { readers: "1_000_000", years: "2.5", streams: "1e3", webhooks: "50" };
  expect(readInputs(values)).toMatchObject({ readers: 1_000_000, years: 2.5, streams: 1_000 });
  expect(readInputs(values)).toMatchObject({ deliveriesPerBlock: 5, cores: DEFAULTS.cores });
  expect(readInputs({ ...values, deliveries: "7" })).toMatchObject({ deliveriesPerBlock: 7 });
  for (const [option, value] of [
    ["readers", "-1"],
    ["load", "1.1"],
    ["cores", "0"],
    ["years", "ten"],
    ["disk", ""],
  ] as const)
    expect(() => readInputs({ [option]: value })).toThrow(InputError);
  expect(() => readInputs({ load: "2" })).toThrow(
    "--load 2: must be a number from 0.05 to 1 (highest share of a core that is planned)",
  );
});

test("Each cost has a positive value, a meaning, the command that measured it, and its date.", () => {
  expect(Object.keys(MEASURED).length).toBeGreaterThan(30);
  for (const [name, { value, meaning, source, date }] of Object.entries(MEASURED)) {
    expect(value, name).toBeGreaterThan(0);
    expect(meaning, name).toMatch(/\w+ \w+/);
    expect(source, name).toMatch(/^npm run bench -- (units (chain|reads|deliveries|streams)|serve)$/);
    expect(date, name).toMatch(/^\d{4}-\d\d-\d\d$/);
  }
});
