/** A client that verifies what it returns. */
import { type Client, type ClientOptions, createClient } from "../api/client.ts";
import type { UnikResolution } from "../api/resources/uniks.ts";
import { readNote } from "./resolution/note.ts";
import type { ResolutionVerdict } from "./resolution/verdict.ts";
import { type ResolutionOptions, verifyResolution, type WitnessedCheckpoint } from "./resolution/verify.ts";

export type VerifyingClient = ReturnType<typeof createVerifyingClient>;

export type ResolveOptions = Pick<ResolutionOptions, "minSigners" | "minHeight"> & {
  /** Base URLs of witnesses and other nodes, whose checkpoints count as well. One that does not respond does not count. */
  readonly witnesses?: readonly string[];
};

/**
 * Creates a client of the node at a URL, with functions that verify the responses: the node need not be trusted.
 *
 * @throws {TypeError} when the URL is invalid
 */
export function createVerifyingClient(options: ClientOptions) {
  const client = createClient(options);
  return {
    ...client,
    /**
     * Requests a unik, and verifies it with the keys of nodes and witnesses.
     *
     * @param unik id, 64 hexadecimal digits
     * @throws {ApiError} if the node does not respond with a resolution
     * @throws {TypeError} for malformed keys
     */
    async resolve(
      unik: string,
      keys: ResolutionOptions["keys"],
      { witnesses = [], ...rules }: ResolveOptions = {},
    ): Promise<ResolutionVerdict> {
      const { data } = await client.uniks.resolution(unik);
      const found = await Promise.all(
        witnesses.map((url) => readWitness(createClient({ ...options, url }), client, data).catch(() => [])),
      );
      return verifyResolution(data, { ...rules, id: unik, keys, witnessed: found.flat() });
    },
  };
}

/**
 * Reads the checkpoint of a witness, and the proof that its tree has the leaf of a resolution, which any node can give. Rejects if one
 * of them does not respond.
 */
async function readWitness(
  witness: Client,
  node: Client,
  { leaf }: UnikResolution,
): Promise<WitnessedCheckpoint[]> {
  const { note } = (await witness.facts.checkpoint()).data;
  const { size } = readNote(note);
  // The witness has not signed the last round yet.
  if (leaf.index >= size) return [];
  const { data } = await node.facts.proof(leaf.index, { size });
  return [{ note, proof: data.proof }];
}
