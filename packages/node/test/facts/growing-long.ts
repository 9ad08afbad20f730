/**
 * Child process of long-uniks.test.ts: extends the tree of facts of a database file, as a running node does, and ends when it is
 * complete.
 *
 *   node growing-long.ts FILE
 */
import { pino } from "pino";
import { FactsTask } from "../../src/facts/task.ts";
import { present } from "../../src/platform/present.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { network } from "../../test-support/chain/forking.ts";

const database = openDatabase(present(process.argv[2], "the file"));
const logger = pino({ level: "silent" });
const task = new FactsTask({ database, network, isDevChain: true, startDelayMs: 0, logger });
console.log("started");
const timer = setInterval(() => {
  if (task.figures().lag > 0) return;
  clearInterval(timer);
  task.close();
  database.close();
  console.log("end");
}, 1);
