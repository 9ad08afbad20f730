/** Lists of seeds from URLs and files: the first that can be read is used (p2p.md 10.1). */
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import type { Logger } from "pino";

const TIMEOUT_MS = 5_000;
const MAX_CHARACTERS = 1_000_000;

/** @param sources URLs or absolute paths of files that hold `[{"ip"}]` or `{"list": [{"ip"}]}` */
export async function readSources(
  sources: readonly string[],
  logger: Logger,
  signal: AbortSignal = new AbortController().signal,
): Promise<string[]> {
  for (const source of sources) {
    if (signal.aborted) break;
    try {
      const peers = parseAddresses(JSON.parse(await readText(source, signal)));
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
  const text = source.startsWith("/") ? await readFile(source, "utf8") : await fetchText(source, signal);
  if (text.length > MAX_CHARACTERS) throw new Error(`it is longer than ${MAX_CHARACTERS} characters`);
  return text;
}

async function fetchText(url: string, signal: AbortSignal): Promise<string> {
  // Most nodes never need it.
  const { fetch } = await import("undici");
  const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]) });
  return response.text();
}

function parseAddresses(content: unknown): string[] {
  const list = Array.isArray(content) ? content : (content as { list?: unknown } | null)?.list;
  if (!Array.isArray(list)) throw new Error("it is not a list of peers");
  return list.flatMap((peer: unknown) => {
    const { ip } = (peer ?? {}) as { ip?: unknown };
    return typeof ip === "string" && isIP(ip) !== 0 ? [ip] : [];
  });
}
