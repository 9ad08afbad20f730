/** The simulation of `npm run scale -- --simulate`: queues of known theory, and the comparison with the model. */
import { expect, test } from "vitest";
import { costs } from "../../tools/scale/costs.ts";
import { DEFAULTS, type Inputs } from "../../tools/scale/inputs.ts";
import { planOf } from "../../tools/scale/model/plan.ts";
import { createAgenda } from "../../tools/scale/simulation/agenda.ts";
import { createRandom } from "../../tools/scale/simulation/random.ts";
import { simulatePlan } from "../../tools/scale/simulation/simulate.ts";
import { stageOf } from "../../tools/scale/simulation/stage.ts";
import { createStation } from "../../tools/scale/simulation/station.ts";

test("Actions run in the order of their times; those of one time in the order in which they were added.", () => {
  const agenda = createAgenda();
  const ran: string[] = [];
  for (const [seconds, name] of [
    [3, "c"],
    [1, "a"],
    [2, "b"],
    [2, "b2"],
    [9, "late"],
  ] as const)
    agenda.after(seconds, () => ran.push(`${name}@${agenda.now()}`));
  agenda.after(1, () => agenda.after(0.5, () => ran.push("added")));
  agenda.runUntil(5);
  expect(ran).toEqual(["a@1", "added", "b@2", "b2@2", "c@3"]);
  expect(agenda.now()).toBe(5);
});

test("A station works on as many jobs as it has servers; the others wait in order.", () => {
  const agenda = createAgenda();
  const station = createStation(2, agenda);
  const done: string[] = [];
  for (const name of ["a", "b", "c", "d", "e"]) station.enter(2, () => done.push(`${name}@${agenda.now()}`));
  agenda.runUntil(5);
  expect(done).toEqual(["a@2", "b@2", "c@4", "d@4"]);
  expect(station.figures()).toMatchObject({ busySeconds: 9, waits: [0, 0, 2, 2, 4], waiting: 0 });
});

/** Jobs arrive at random, and have random lengths. */
function queueAt(load: number, servers: number, jobs = 100_000) {
  const [agenda, random] = [createAgenda(), createRandom(7)];
  const station = createStation(servers, agenda);
  const arrive = (): void => {
    agenda.after(random.exponential(1 / (load * servers)), arrive);
    station.enter(random.exponential(1));
  };
  agenda.after(0, arrive);
  const seconds = jobs / (load * servers);
  agenda.runUntil(seconds);
  const { waits } = station.figures();
  const mean = waits.reduce((sum, wait) => sum + wait, 0) / waits.length;
  return { ...stageOf("queue", [station], seconds, load), mean };
}

test.each([
  // Mean waits of queueing theory: load / (1 - load) with one server, Erlang's formula with several.
  [0.5, 1, 1],
  [0.8, 1, 4],
  [0.8, 4, 0.7455],
])("At a load of %d with %d servers, a job waits for %d times its own length.", (load, servers, expected) => {
  const { simulatedShare, mean } = queueAt(load, servers);
  expect(Math.abs(simulatedShare / load - 1)).toBeLessThan(0.03);
  expect(Math.abs(mean / expected - 1)).toBeLessThan(0.15);
});

test("Above a load of 1, the queue grows.", () => {
  const { simulatedShare, waiting } = queueAt(1.2, 2, 20_000);
  expect(simulatedShare).toBeGreaterThan(0.99);
  expect(waiting).toBeGreaterThan(2_000);
});

const simulated = (inputs: Partial<Inputs>, seed = 1) => {
  const plan = planOf({ ...DEFAULTS, ...inputs }, costs);
  const { reads, writes } = simulatePlan(plan, costs, { seed, jobs: 50_000 });
  return { ...writes, stages: [...reads, ...writes.stages] };
};

test.each<[string, Partial<Inputs>]>([
  ["the defaults", {}],
  ["few users", { readers: 10_000, webhooks: 20, deliveriesPerBlock: 20 }],
  ["many deliveries", { webhooks: 10_000, deliveriesPerBlock: 10_000, readers: 100_000 }],
  ["full blocks each second", { blocksPerYear: 31_557_600, transfersPerBlock: 150, deliveriesPerBlock: 600 }],
])("With %s, the simulation uses every stage as the model computes.", (_, inputs) => {
  const { stages } = simulated(inputs);
  expect(stages).toHaveLength(6);
  for (const { name, modelShare, simulatedShare } of stages) {
    expect(modelShare, name).toBeLessThan(1);
    expect(Math.abs(simulatedShare - modelShare), `${name}: ${modelShare} ${simulatedShare}`).toBeLessThan(
      Math.max(0.03 * modelShare, 0.005),
    );
  }
});

test("A saturated stage of the model has a queue that grows.", () => {
  const { stages, deliveredP99Ms } = simulated({ webhooks: 10_000, deliveriesPerBlock: 400_000, cores: 2 });
  const primary = stages.find(({ name }) => name === "primary");
  expect(primary?.modelShare).toBeGreaterThan(1);
  expect(primary?.simulatedShare).toBeGreaterThan(0.95);
  expect(primary?.waiting).toBeGreaterThan(0);
  expect(deliveredP99Ms).toBeGreaterThan(8_000);
});

test("The same seed gives the same figures, and another one others.", () => {
  const inputs = { readers: 10_000, deliveriesPerBlock: 10 };
  expect(simulated(inputs)).toEqual(simulated(inputs));
  expect(simulated(inputs)).not.toEqual(simulated(inputs, 2));
});

test("Without readers and webhooks, only blocks are simulated.", () => {
  const { stages } = simulated({ readers: 0, webhooks: 0, deliveriesPerBlock: 0 });
  expect(
    stages.filter(({ servers, simulatedShare }) => servers > 0 && simulatedShare > 0).map(({ name }) => name),
  ).toEqual(["mirror", "primary"]);
});
