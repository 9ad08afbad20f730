/** Files of a network, for programs that are started on it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Block, blockToJson, type NetworkFiles } from "@uniknode/protocol";

/** Creates the folder that `--network-dir` names. */
export function writeNetwork(folder: string, { block, files }: { block: Block; files: NetworkFiles }): void {
  mkdirSync(folder, { recursive: true });
  const write = (name: string, content: unknown) =>
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(content));
  write("network", files.network);
  write("milestones", files.milestones);
  write("exceptions", files.exceptions);
  write("genesisBlock", blockToJson(block));
}
