/** The thread that builds value indexes, one after another. */

import { parentPort, workerData } from "node:worker_threads";
import { present } from "../../platform/present.ts";
import { createReadTogether, openDatabase } from "../../store/engine/database.ts";
import { readValueIndexAt } from "./lists/value-index-cache.ts";
import { defineAssets } from "./tables/transaction-conditions.ts";
import type { BuilderData, ToBuilder } from "./value-index-builder.ts";

const { databasePath } = workerData as BuilderData;

const port = present(parentPort, "the port of the thread");
const database = openDatabase(databasePath, { readonly: true });
defineAssets(database);
const readTogether = createReadTogether(database);

port.on("messageerror", (error) => {
  throw error;
});
port.on("message", ({ definition, maxBytes }: ToBuilder) => {
  const built = readTogether(() => readValueIndexAt(database, definition, maxBytes));
  const buffers = built ? Object.values(built.valueIndex).map(({ buffer }) => buffer) : [];
  port.postMessage(built, buffers);
});
