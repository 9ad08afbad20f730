/** `npm run proofs -- --runs 10000 --seed 1`: attackers of the verifier of proofs, with a third of the keys (docs/spec/proofs.md). */
import { simulateAttackers } from "../packages/client/test-support/proofs/simulation.ts";
import { readArguments } from "./arguments.ts";

const { values } = readArguments("proofs", {
  options: { runs: { type: "string", default: "1000" }, seed: { type: "string", default: "1" } },
});
const [runs, seed] = [Number(values.runs), Number(values.seed)];
const started = performance.now();
const { deceived, refused, trueProofs } = simulateAttackers({ runs, seed });
for (const fault of deceived) console.log(`accepted: seed ${fault.seed}: an attacker that ${fault.name}`);
for (const fault of refused) console.log(`refused: seed ${fault.seed}: a true proof`);
const seconds = ((performance.now() - started) / 1_000).toFixed(1);
console.log(
  `${runs} attacks, ${deceived.length} accepted; ${trueProofs} true proofs, ${refused.length} refused; ${seconds} s`,
);
if (deceived.length + refused.length > 0) process.exitCode = 1;
