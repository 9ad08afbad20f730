/** The thread that builds rankings, one after another. */
import { parentPort, workerData } from "node:worker_threads";
import { openDatabase } from "../../../store/engine/database.ts";
import { createReadTogether } from "../../../store/engine/snapshot.ts";
import { defineAssets } from "../assets.ts";
import type { BuilderData, ToBuilder } from "./builder.ts";
import { readRankingAt } from "./reading.ts";

const { databasePath } = workerData as BuilderData;

const database = openDatabase(databasePath, { readonly: true });
defineAssets(database);
const readTogether = createReadTogether(database);

parentPort!.on("messageerror", (error) => {
  throw error;
});
parentPort!.on("message", ({ ranked, maxBytes }: ToBuilder) => {
  const built = readTogether(() => readRankingAt(database, ranked, maxBytes));
  const buffers = built ? Object.values(built.ranking).map(({ buffer }) => buffer) : [];
  parentPort!.postMessage(built, buffers);
});
