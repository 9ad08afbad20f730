/** A client that verifies what it returns. */

import type { ClientOptions } from "../api/client.ts";
import { createClient } from "../api/client.ts";
import type { ResolutionVerdict } from "./resolution/verdict.ts";
import { type ResolutionOptions, verifyResolution } from "./resolution/verify.ts";

export type VerifyingClient = ReturnType<typeof createVerifyingClient>;

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
     * @throws {ApiError}
     * @throws {TypeError} for malformed keys
     */
    async resolve(
      unik: string,
      keys: ResolutionOptions["keys"],
      rules: Pick<ResolutionOptions, "minSigners" | "minHeight"> = {},
    ): Promise<ResolutionVerdict> {
      const { data } = await client.uniks.resolution(unik);
      return verifyResolution(data, { ...rules, id: unik, keys });
    },
  };
}
