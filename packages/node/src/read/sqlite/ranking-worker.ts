/** The thread that builds rankings, one after another. */

import { parentPort, workerData } from "node:worker_threads";
import { present } from "../../platform/present.ts";
import { openDatabase } from "../../store/engine/database.ts";
import { createReadTogether } from "../../store/engine/snapshot.ts";
import { defineAssets } from "./assets.ts";
import { readRankingAt } from "./lists/reading.ts";
import type { BuilderData, ToBuilder } from "./ranking-builder.ts";

const { databasePath } = workerData as BuilderData;

const port = present(parentPort, "the port of the thread");
const database = openDatabase(databasePath, { readonly: true });
defineAssets(database);
const readTogether = createReadTogether(database);

port.on("messageerror", (error) => {
  throw error;
});
port.on("message", ({ ranked, maxBytes }: ToBuilder) => {
  const built = readTogether(() => readRankingAt(database, ranked, maxBytes));
  const buffers = built ? Object.values(built.ranking).map(({ buffer }) => buffer) : [];
  port.postMessage(built, buffers);
});
