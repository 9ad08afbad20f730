/** Reads the fact tree of a node over HTTP: responses are bounded in size. */
import { HASH_BYTES, type Hash } from "../facts/merkle/proofs.ts";
import { CodedError } from "../platform/coded-error.ts";
import { parseExternal, type TextBounds } from "../platform/json/external.ts";
import { type Form, formOf } from "../platform/json/form.ts";
import { Type } from "../platform/json/schema.ts";
import { readBounded, shortened, withoutControls } from "../platform/text/foreign.ts";

/** Timeout after which the node counts as unreachable. */
const TIMEOUT_MS = 10_000;
const MAX_RESPONSE_BYTES = 65_536;
const RESPONSE_BOUNDS: TextBounds = { maxCharacters: MAX_RESPONSE_BYTES, maxDepth: 4, maxValues: 1_000 };
/** Upper bound on the hashes of a proof: no tree is that high. */
const MAX_PROOF_HASHES = 128;

/** Characters of the node's response that an error quotes. */
const MAX_REASON = 300;

const hash = Type.String({ pattern: "^[0-9a-f]{64}$", description: `a hash of ${HASH_BYTES} bytes` });

const CHECKPOINT = formOf(
  Type.Object({
    data: Type.Object({
      size: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
      root: hash,
      height: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
      note: Type.String(),
      verifierKey: Type.String(),
    }),
  }),
);

const PROOF = formOf(
  Type.Object({
    data: Type.Object({
      proof: Type.Array(hash, { maxItems: MAX_PROOF_HASHES, description: "a list of hashes" }),
    }),
  }),
);

export type RemoteCheckpoint = {
  readonly name: string;
  readonly size: number;
  readonly root: Hash;
  readonly height: number;
  readonly note: string;
  readonly verifierKey: string;
};

/** The node sent an invalid response, or none. Retryable. */
class RemoteError extends CodedError<"FACTS_UNKNOWN"> {
  constructor(url: string, why: string) {
    const reason = shortened(withoutControls(why), MAX_REASON);
    super("FACTS_UNKNOWN", `${url} does not expose its fact tree: ${reason}`, { isRetryable: true });
  }
}

/** @throws {RemoteError} */
export async function readCheckpoint(url: string, signal: AbortSignal): Promise<RemoteCheckpoint> {
  const { root, ...checkpoint } = (await request(url, "/checkpoint", CHECKPOINT, signal)).data;
  const [name = ""] = checkpoint.note.split("\n", 1);
  return { ...checkpoint, name, root: Buffer.from(root, "hex") };
}

/**
 * Reads the proof that the tree of one size is a prefix of the tree of another.
 *
 * @throws {RemoteError}
 */
export async function readProof(url: string, from: number, to: number, signal: AbortSignal): Promise<Hash[]> {
  const { proof } = (await request(url, `/consistency?from=${from}&to=${to}`, PROOF, signal)).data;
  return proof.map((text) => Buffer.from(text, "hex"));
}

/** Requests a path of the node's tree. */
async function request<T>(url: string, path: string, form: Form<T>, signal: AbortSignal): Promise<T> {
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
    return parseExternal(await readBounded(response.body, MAX_RESPONSE_BYTES), form, RESPONSE_BOUNDS);
  } catch (error) {
    const { cause, message } = error as Error;
    throw new RemoteError(url, cause instanceof Error ? `${message}: ${cause.message}` : message);
  }
}
