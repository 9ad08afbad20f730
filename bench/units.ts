/**
 * `npm run bench -- units [chain] [reads] [deliveries] [streams]`
 *
 * Measures the costs of one unit of work that docs/scale.md lists: CPU time, bytes on disk, in memory and on the network, for each
 * block, transaction, fact, resource, page, delivery and stream. CPU time depends less on other load of the machine than wall time,
 * but by up to a half.
 */
import { readArguments } from "../tools/arguments.ts";
import { measureChain } from "./units/chain.ts";
import { measureDeliveries } from "./units/deliveries.ts";
import { measureReads } from "./units/reads.ts";
import { measureStreams } from "./units/streams.ts";

const { positionals } = readArguments("bench units [PART...]", { allowPositionals: true });

/** The unit is the end of the name of a cost: `Us` is microseconds of CPU time, `Bytes`, `Mb`, `Facts` or `Sockets`. */
const PARTS = {
  chain: measureChain,
  reads: measureReads,
  deliveries: measureDeliveries,
  streams: measureStreams,
};

for (const [part, measure] of Object.entries(PARTS)) {
  if (positionals.length > 0 && !positionals.includes(part)) continue;
  for (const [name, value] of Object.entries(await measure()))
    console.log(`${name.padEnd(24)} ${Number(value.toPrecision(3)).toLocaleString("en")}`);
}
