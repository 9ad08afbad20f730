/** `npm run network -- [--seed N] [--minutes M] [--nodes N] [--block-time SECONDS]`: nodes on separate hosts, with injected faults. */
import { missingForHosts } from "../packages/node/test-support/network/namespaces.ts";
import { runTrial } from "../packages/node/test-support/network/trial.ts";
import { readArguments } from "./arguments.ts";

const { values } = readArguments("network", {
  options: {
    seed: { type: "string", default: String(Date.now() % 2 ** 32) },
    minutes: { type: "string", default: "4" },
    nodes: { type: "string", default: "7" },
    "block-time": { type: "string", default: "4" },
  },
});
const missing = missingForHosts();
if (missing) throw new Error(missing);
const [seed, nodes] = [Number(values.seed), Number(values.nodes)];
console.log(`seed ${seed}, ${nodes} nodes`);
const startMs = Date.now();
const { faults, height, missed, undone, missingTypes } = await runTrial({
  seed,
  nodes,
  seconds: Number(values.minutes) * 60,
  blocktime: Number(values["block-time"]),
  log: (line) => console.log(`${((Date.now() - startMs) / 1_000).toFixed(0).padStart(5)} s  ${line}`),
});
console.log(`${height} blocks, ${missed} slots missed, ${undone} blocks undone`);
for (const fault of faults) console.log(`FAULT ${fault}`);
if (missingTypes.length > 0) console.log(`FAULT no transaction of the types ${missingTypes.join(" ")}`);
process.exitCode = faults.length + missingTypes.length > 0 ? 1 : 0;
