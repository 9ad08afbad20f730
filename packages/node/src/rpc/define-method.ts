/** Methods: validation of their parameters, and their context. */
import type { Client } from "@uniknode/client";
import type { Network } from "@uniknode/protocol";
import { type Fault, formOf } from "../platform/json/form.ts";
import type { Static, TObject } from "../platform/json/schema.ts";
import type { Derivations } from "./derivations.ts";
import type { BodyNonces } from "./nonces.ts";
import { invalidParams } from "./rpc-error.ts";
import type { RpcStore } from "./store.ts";

/** Dependencies of the methods. */
export type RpcContext = {
  readonly client: Client;
  readonly network: Network;
  readonly store: RpcStore;
  readonly nonces: BodyNonces;
  readonly derivations: Derivations;
  /** Aborts running work; its reason is the error that the caller gets. The client uses it too. */
  readonly signal: AbortSignal;
};

/**
 * @throws {RpcError}
 * @throws {ApiError}
 */
export type Method = (params: unknown, context: RpcContext) => Promise<unknown>;

/** Creates a method that runs only with parameters that match the schema. */
export function method<Params extends TObject>(
  params: Params,
  run: (params: Static<Params>, context: RpcContext) => Promise<unknown>,
): Method {
  const form = formOf(params);
  return async (given, context) => {
    if (!form.is(given)) throw invalidParams(faultText(form.fault(given)));
    return run(given, context);
  };
}

/** Names the member as JSON-RPC clients know it: `amount: must be integer`. */
export const faultText = (fault: Fault | undefined): string =>
  fault === undefined ? "" : `${fault.path.slice(1) || "it"}: ${fault.message}`;
