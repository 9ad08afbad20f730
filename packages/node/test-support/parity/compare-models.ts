/** Compares the read models of SQLite and PostgreSQL over the chain of the kit. */
import { type ComparisonOptions, compareReadModels, type Difference } from "../read/compare.ts";
import { startNode } from "./node.ts";
import { type OpenReadModel, openSqlite } from "./read-models.ts";

/** Returns the first differences; none if the results of all random requests are equal. */
export async function compareModels(
  folder: string,
  openMirror: OpenReadModel,
  options: ComparisonOptions,
): Promise<Difference[]> {
  const { path, network, close } = await startNode(folder);
  const inFile = await openSqlite(path, network);
  const mirrored = await openMirror(path, network);
  try {
    return await compareReadModels(inFile.model, mirrored.model, options);
  } finally {
    await mirrored.close();
    await inFile.close();
    await close();
  }
}
