/** Versions of the program and of the protocol. */
import { readFileSync } from "node:fs";

/** Version of the old network's software whose interface and peer protocol this node speaks. */
export const PROTOCOL_VERSION = "5.7.2";

export function programVersion(): string {
  const path = new URL("../../../package.json", import.meta.url);
  return (JSON.parse(readFileSync(path, "utf8")) as { version: string }).version;
}

/** Both versions as readable text: `5.7.2 protocol, 0.2.0 program`. */
export const shownVersions = (): string => `${PROTOCOL_VERSION} protocol, ${programVersion()} program`;

/** Versions of protocol, program and runtime as one line. */
export const versionLine = (): string => `uniknode ${shownVersions()} (Node.js ${process.versions.node})`;
