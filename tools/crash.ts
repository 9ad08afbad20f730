/** `npm run crash -- [KILLS] [SEED]`: a long run of the crash test. */
import { runCrashes } from "../packages/node/test-support/crash/crashes.ts";

const [kills = "200", seed = String(Date.now() % 2 ** 32)] = process.argv.slice(2);
console.log(`${kills} kills, seed ${seed}`);
const report = await runCrashes({ kills: Number(kills), seed: Number(seed), log: console.log });
console.log(
  `${kills} kills survived: ${report.blocks} blocks, ${report.facts} facts, ${report.deliveries} deliveries`,
);
