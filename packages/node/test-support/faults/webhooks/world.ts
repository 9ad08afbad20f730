/** The world of the scenario: a dev chain, webhooks with their receivers, and notes about what happened. */
import { present } from "../../../src/platform/present.ts";
import type { DevChain } from "../actors/dev-chain.ts";
import { registerSubject, type Subject } from "../actors/subject.ts";
import { createSubmissions, watched } from "../actors/submissions.ts";
import { kindsOf } from "../checks/kinds.ts";
import type { Run } from "../scenario.ts";

const RESTLESS = 2;

export type World = Awaited<ReturnType<typeof createWorld>>;

/** @param subjects gets every webhook */
export async function createWorld({ random, folder }: Run, chain: DevChain, subjects: Subject[]) {
  const kinds = kindsOf(watched);
  const registerAll = async (chosen: typeof kinds) => {
    const registered: Subject[] = [];
    for (const kind of chosen) registered.push(await registerSubject(kind, { ...chain, random }));
    subjects.push(...registered);
    return registered;
  };
  // One webhook receives every block, so that there are past events whose order can be checked.
  const everyBlock = present(kinds.find(({ name }) => name === "every block"));
  const remembered = kinds.filter(({ isRemembered }) => isRemembered);
  return {
    ...{ ...chain, random, folder, kinds, subjects },
    /** Webhooks that keep their kind. */
    steady: await registerAll(kinds),
    /** Webhooks that change their kind, and are absent temporarily. */
    restless: await registerAll(Array.from({ length: RESTLESS }, () => random.pick(kinds))),
    /** Webhooks that keep their kind, and request replays. */
    historians: await registerAll([everyBlock, random.pick(remembered)]),
    /** Height of the first block whose facts the chronicle has. */
    firstHeight: present(chain.chronicle.changes()[0]).block.height,
    submit: createSubmissions(random),
    /** Ids of the transactions that the node has accepted. */
    accepted: new Set<string>(),
    /** Number of occurrences by fault. */
    happened: new Map<string, number>(),
    /** Clock of the machine, as the node sees it. */
    clockAheadMs: 0,
  };
}
