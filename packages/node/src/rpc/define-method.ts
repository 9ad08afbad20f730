/** Methods: validation of their parameters, and their context. */
import type { Client } from "@uniknode/client";
import type { Network } from "@uniknode/protocol";
import type { Static, TObject } from "typebox";
import { Compile } from "typebox/compile";
import type { Derivations } from "./derivations.ts";
import { invalidParams } from "./error.ts";
import type { RpcStore } from "./store.ts";

/** Dependencies of the methods. */
export type RpcContext = {
  readonly client: Client;
  readonly network: Network;
  readonly store: RpcStore;
  readonly derivations: Derivations;
  /** Aborts running work; its reason is the error that the caller gets. The client uses it too. */
  readonly signal: AbortSignal;
};

/**
 * @throws {RpcError}
 * @throws {ApiError}
 */
export type Method = (params: unknown, context: RpcContext) => Promise<unknown>;

/** A method that runs only with parameters that match the schema. */
export function method<Params extends TObject>(
  params: Params,
  run: (params: Static<Params>, context: RpcContext) => Promise<unknown>,
): Method {
  const schema = Compile(params);
  return async (given, context) => {
    if (!schema.Check(given)) {
      const [first] = schema.Errors(given);
      throw invalidParams(`${first?.instancePath.slice(1) || "params"}: ${first?.message}`);
    }
    return run(given, context);
  };
}
