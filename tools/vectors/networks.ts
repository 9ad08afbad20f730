/** Runners of networks, milestones and slots (networks.md, consensus.md 1). */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import {
  createNetwork,
  createSlots,
  type MilestoneChange,
  type Network,
  NetworkError,
  type NetworkFiles,
  presets,
} from "@uniknode/protocol";
import { present } from "../../packages/node/src/platform/present.ts";
import { eachCase, type Runners } from "./vector.ts";

/** The networks that vectors name beyond the presets: two of another chain, with version 1 history. */
const auxiliary = () =>
  JSON.parse(
    readFileSync(new URL("../../test/vectors/crypto/networks.json", import.meta.url), "utf8"),
  ).cases.filter((network: { auxiliary?: boolean }) => network.auxiliary) as (NetworkFiles & {
    name: string;
  })[];

const networks = new Map<string, Network>();

/** The network that a vector names. */
export function networkNamed(name: string): Network {
  let network = networks.get(name);
  if (!network) {
    const files = presets[name] ?? auxiliary().find((candidate) => candidate.name === name);
    assert.ok(files, `no network is called ${name}`);
    network = createNetwork(files);
    networks.set(name, network);
  }
  return network;
}

const networkOf = (milestones: MilestoneChange[]): Network =>
  createNetwork({ ...present(presets.unitnet), milestones });

/** A network with these values at height 1. */
const networkWith = (epoch: string, blocktime: number): Network =>
  networkOf([{ height: 1, epoch, blocktime }]);

export const networkRunners: Runners = {
  networks: eachCase(({ name, auxiliary: isAuxiliary, network, milestones, exceptions }) => {
    if (isAuxiliary) createNetwork({ network, milestones, exceptions });
    else assert.deepEqual(presets[name], { network, milestones, exceptions });
  }),

  milestones: eachCase(({ network: name, milestones, height, currentHeight, expect }) => {
    if (expect.accepted === false) {
      assert.throws(() => networkOf(milestones), { code: expect.error });
      return;
    }
    const network = name ? networkNamed(name) : networkOf(milestones);
    if (expect.accepted) return;
    const asked = height || currentHeight || 1;
    assert.deepEqual(network.milestoneAt(asked), expect.milestone);
    // The question "is this a milestone" was put only with a height of its own.
    if (height) assert.equal(network.isMilestone(height), expect.isNewMilestone);
  }),

  "milestone-resolution": eachCase(({ input, expected }) => {
    assert.deepEqual(networkNamed(input.network).milestoneAt(input.height), expected);
  }),

  "milestone-validation": eachCase(({ input, expected }) => {
    let refusal: { name: string; message: string } | null = null;
    try {
      networkOf(input.milestones);
    } catch (error) {
      assert.ok(error instanceof NetworkError);
      refusal = { name: error.code, message: error.message };
    }
    assert.deepEqual(refusal, expected.error);
  }),

  /** Two files have this name: one calls the members `input` and `expected`, the other `expect`. */
  slots: eachCase(({ input, expected, expect, ...members }) => {
    const { network, epoch, blocktime, unixMs, time } = input ?? members;
    const slots = createSlots(epoch ? networkWith(epoch, blocktime) : networkNamed(network));
    const { forgingAllowed, isForgingAllowed = forgingAllowed, ...figures } = expected ?? expect;
    const networkTime = unixMs === undefined ? time : slots.timeAt(unixMs);
    const slot = slots.slotAt(networkTime);
    assert.deepEqual(
      { time: networkTime, slot, slotTime: slots.slotTime(slot) },
      { ...(unixMs === undefined && { time }), ...figures },
    );
    assert.equal(slots.isForgingPhase(networkTime), isForgingAllowed);
    // A named network has the epoch and blocktime that the case spells out.
    if (epoch && unixMs !== undefined && presets[network]) {
      const preset = createSlots(networkNamed(network));
      assert.equal(preset.timeAt(unixMs), networkTime);
      assert.equal(preset.blocktime, blocktime);
    }
  }),
};
