/** Reads the tree of another node over HTTP. Responses are bounded in size, and accepted only as far as they are proven. */

import { CodedError } from "../../platform/coded-error.ts";
import { shortened, withoutControls } from "../../platform/text/foreign.ts";
import { HASH_BYTES, type Hash } from "../merkle/hashes.ts";
import { isConsistent } from "../merkle/proofs.ts";
import type { FactReader } from "../reader.ts";

/** Timeout after which the other node counts as unreachable. */
const TIMEOUT_MS = 10_000;
const MAX_RESPONSE_BYTES = 65_536;
/** Upper bound on the hashes of a proof: no tree is that high. */
const MAX_PROOF_HASHES = 128;

/** Characters of the other node's response that an error quotes. */
const MAX_REASON = 300;

export type RemoteCheckpoint = { readonly name: string; readonly size: number; readonly root: Hash };

/** The other node sent an invalid response, or none. Retryable. */
export class RemoteError extends CodedError<"FACTS_UNKNOWN"> {
  constructor(url: string, why: string) {
    const reason = shortened(withoutControls(why), MAX_REASON);
    super("FACTS_UNKNOWN", `${url} does not expose its fact tree: ${reason}`, { isRetryable: true });
  }
}

/** Roots of the two trees at the size at which they differ. */
export type Difference = { readonly size: number; readonly root: Hash; readonly otherRoot: Hash };

/**
 * Compares the own tree with the tree of another node, at the size of the smaller tree.
 *
 * @param name name of the own log
 * @returns undefined if the trees agree
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
  // An empty tree agrees with every tree.
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
  const [name = ""] = note.split("\n", 1);
  return { name, size, root: readHash(url, root) };
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

/** Requests a path and returns the `data` of the response. */
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
    if (bytes.length > MAX_RESPONSE_BYTES) throw new Error("the response is too long");
  }
  return bytes.toString();
}

const areEqual = (a: Hash, b: Hash): boolean => Buffer.compare(a, b) === 0;
