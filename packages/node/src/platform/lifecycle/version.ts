import { readFileSync } from "node:fs";

/** Version of this program. */
export function programVersion(): string {
  const path = new URL("../../../package.json", import.meta.url);
  return (JSON.parse(readFileSync(path, "utf8")) as { version: string }).version;
}
