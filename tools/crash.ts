/** `npm run crash -- [KILLS] [SEED]`: a long run of the crash test. */
import { runCrashes } from "../packages/node/test-support/crash/crashes.ts";
import { readArguments } from "./arguments.ts";

const { positionals } = readArguments("crash [KILLS] [SEED]", { allowPositionals: true });
const [kills = "200", seed = String(Date.now() % 2 ** 32)] = positionals;
console.log(`${kills} kills, seed ${seed}`);
const report = await runCrashes({ kills: Number(kills), seed: Number(seed), log: console.log });
console.log(
  `${kills} kills survived: ${report.blocks} blocks, ${report.facts} facts, ${report.deliveries} deliveries`,
);
