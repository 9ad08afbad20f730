/** `npm run crash -- [KILLS] [SEED] [--mirror | --catch-up]`: a long run of the crash test of a node, of a mirror, or of a catch-up. */
import { runCrashes } from "../packages/node/test-support/crash/crashes.ts";
import { startMirroredDevChain } from "../packages/node/test-support/mirror/dev-chain.ts";
import { runKills } from "../packages/node/test-support/mirror/kills.ts";
import { readArguments } from "./arguments.ts";
import { runCatchUpKills } from "./crash/catch-up.ts";

const { positionals, values } = readArguments("crash [KILLS] [SEED]", {
  allowPositionals: true,
  options: {
    /** Kills the mirror of a node, not the node. */
    mirror: { type: "boolean", default: false },
    /** Kills a process that replays a chain of 50,500 blocks. */
    "catch-up": { type: "boolean", default: false },
  },
});
const [kills = "200", seed = String(Date.now() % 2 ** 32)] = positionals;
const run = { kills: Number(kills), seed: Number(seed), log: console.log };
console.log(`${kills} kills, seed ${seed}`);
if (values.mirror) {
  const chain = await startMirroredDevChain();
  try {
    await runKills(chain, { ...run, maxLifeMs: 2_500, comparedEvery: 10 });
  } finally {
    await chain.closeAll();
  }
  console.log(`${kills} kills survived`);
} else if (values["catch-up"]) {
  await runCatchUpKills(run);
  console.log(`${kills} kills survived`);
} else {
  const { blocks, facts, deliveries } = await runCrashes(run);
  console.log(`${kills} kills survived: ${blocks} blocks, ${facts} facts, ${deliveries} deliveries`);
}
