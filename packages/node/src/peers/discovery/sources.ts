/** Lists of seeds from URLs and files: the first that can be read is used (p2p.md 10.1). */
import { createReadStream } from "node:fs";
import { isIP } from "node:net";
import type { Logger } from "pino";
import { parseExternal, type TextBounds } from "../../platform/json/external.ts";
import { formOf, refined } from "../../platform/json/form.ts";
import { Type } from "../../platform/json/schema.ts";
import { readBounded } from "../../platform/text/foreign.ts";

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 1_000_000;
const BOUNDS: TextBounds = { maxCharacters: MAX_BYTES, maxDepth: 64, maxValues: 500_000 };

/** Entries without a valid address are ignored. */
const List = Type.Array(Type.Unknown());
const LISTS = formOf(Type.Union([List, Type.Object({ list: List })], { description: "a list of peers" }));
const ENTRY = formOf(Type.Object({ ip: refined(Type.String(), (text) => isIP(text as string) !== 0) }));

/** @param sources URLs or absolute paths of files that hold `[{"ip"}]` or `{"list": [{"ip"}]}` */
export async function readSources(
  sources: readonly string[],
  logger: Logger,
  signal: AbortSignal = new AbortController().signal,
): Promise<string[]> {
  for (const source of sources) {
    if (signal.aborted) break;
    try {
      const peers = parseAddresses(await readText(source, signal));
      logger.info({ source, peers: peers.length }, "read a list of peers");
      return peers;
    } catch (error) {
      if (signal.aborted) break;
      logger.warn({ source, reason: (error as Error).message }, "failed to read a list of peers");
    }
  }
  return [];
}

async function readText(source: string, signal: AbortSignal): Promise<string> {
  if (source.startsWith("/")) return readBounded(createReadStream(source, { signal }), MAX_BYTES);
  // Most nodes never need it.
  const { fetch } = await import("undici");
  const response = await fetch(source, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  });
  return readBounded(response.body, MAX_BYTES);
}

function parseAddresses(text: string): string[] {
  const content = parseExternal(text, LISTS, BOUNDS);
  const list = "list" in content ? content.list : content;
  return list.flatMap((peer) => (ENTRY.is(peer) ? [peer.ip] : []));
}
