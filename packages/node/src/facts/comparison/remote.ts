/** What another node says of its tree, over HTTP. Its answers are bounded, and believed as far as they are proven. */

import { shortened, withoutControls } from "../../platform/text/foreign.ts";
import { HASH_BYTES, type Hash } from "../merkle/hashes.ts";
import { isConsistent } from "../merkle/proofs.ts";
import type { FactReader } from "../reader.ts";

/** Beyond it, the node cannot be compared with at present. */
const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 65_536;
/** No tree is so high. */
const MAX_PROOF_HASHES = 128;

/** Characters of what the other node says, in an error. */
const MAX_REASON = 300;

export type RemoteCheckpoint = { readonly name: string; readonly size: number; readonly root: Hash };

/** Another node that answers otherwise than a node does, or not at all. A later attempt may succeed. */
export class RemoteError extends Error {
  readonly code = "FACTS_UNKNOWN";
  readonly isRetryable = true;

  constructor(url: string, why: string) {
    super(`${url} does not expose its fact tree: ${shortened(withoutControls(why), MAX_REASON)}`);
    this.name = "RemoteError";
  }
}

/** What one node has where the other has something else. */
export type Difference = { readonly size: number; readonly root: Hash; readonly otherRoot: Hash };

/**
 * Compares the own tree with that of another node, at the size of the shorter one.
 *
 * @param name of the own log
 * @returns undefined where they agree
 * @throws {RemoteError}
 */
export async function differenceFrom(
  url: string,
  name: string,
  facts: Pick<FactReader, "checkpoint" | "rootAt">,
  signal: AbortSignal,
): Promise<Difference | undefined> {
  const other = await readCheckpoint(url, signal);
  if (other.name !== name) throw new RemoteError(url, `its log is ${other.name}, not ${name}`);
  const own = facts.checkpoint();
  // A tree without leaves agrees with every other.
  if (own.size === 0 || other.size === 0) return undefined;
  const root = facts.rootAt(other.size);
  if (root) {
    return areEqual(root, other.root) ? undefined : { size: other.size, root, otherRoot: other.root };
  }
  const proof = await readProof(url, own.size, other.size, signal);
  return isConsistent(own, other, proof) ? undefined : { ...own, otherRoot: other.root };
}

async function readCheckpoint(url: string, signal: AbortSignal): Promise<RemoteCheckpoint> {
  const { size, root, note } = await ask(url, "/checkpoint", signal);
  if (typeof size !== "number" || !Number.isSafeInteger(size) || size < 0 || typeof note !== "string") {
    throw new RemoteError(url, "invalid checkpoint: size or note is missing");
  }
  return { name: note.split("\n", 1)[0]!, size, root: readHash(url, root) };
}

async function readProof(url: string, from: number, to: number, signal: AbortSignal): Promise<Hash[]> {
  const { proof } = await ask(url, `/consistency?from=${from}&to=${to}`, signal);
  if (!Array.isArray(proof) || proof.length > MAX_PROOF_HASHES) {
    throw new RemoteError(url, "invalid proof: not a list of hashes");
  }
  return proof.map((hash) => readHash(url, hash));
}

function readHash(url: string, text: unknown): Hash {
  if (typeof text === "string" && /^[0-9a-f]{64}$/.test(text)) return Buffer.from(text, "hex");
  throw new RemoteError(url, `a hash of ${HASH_BYTES} bytes is expected`);
}

/** The `data` of an answer. */
async function ask(url: string, path: string, signal: AbortSignal): Promise<Record<string, unknown>> {
  try {
    const response = await fetch(`${url.replace(/\/+$/, "")}/api/v2/facts${path}`, {
      redirect: "error",
      headers: { accept: "application/json" },
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new Error(`HTTP status ${response.status}`);
    }
    const { data } = JSON.parse(await readText(response)) as { readonly data?: unknown };
    if (typeof data !== "object" || data === null) throw new Error("the response has no data");
    return data as Record<string, unknown>;
  } catch (error) {
    const { cause, message } = error as Error;
    throw new RemoteError(url, cause instanceof Error ? `${message}: ${cause.message}` : message);
  }
}

async function readText(response: Response): Promise<string> {
  let bytes = Buffer.alloc(0);
  for await (const part of response.body ?? []) {
    bytes = Buffer.concat([bytes, part as Uint8Array]);
    if (bytes.length > MAX_ANSWER_BYTES) throw new Error("the response is too long");
  }
  return bytes.toString();
}

const areEqual = (a: Hash, b: Hash): boolean => Buffer.compare(a, b) === 0;
