/** Dependencies of the resources of the API. */
import type { Network } from "@uniknode/protocol";
import type { FastifyRequest } from "fastify";
import type { RemoteGateway } from "../../gateway/gateway.ts";
import type { FeePolicy } from "../../pool/admission/fees.ts";
import type { Head } from "../../read/head.ts";
import type { Snapshot } from "../../read/port.ts";
import type { JsonText } from "../responses/text.ts";
import type { Chainmeta, TimestampOf } from "../responses/timestamp.ts";
import type { Server } from "./app.ts";

/** Information that the node returns about itself. */
export type Identity = {
  /** Version announced to clients: the version of the old network's software with which this node is compatible. */
  readonly version: string;
  /** Content of the genesis file. */
  readonly genesisBlock: Readonly<Record<string, unknown>>;
  readonly feePolicy: FeePolicy;
  /** Ports of the enabled services, by the names that clients expect: `@arkecosystem/core-api` ... */
  readonly ports: Readonly<Record<string, number>>;
};

export type Api = {
  readonly identity: Identity;
  readonly network: Network;
  readonly gateway: RemoteGateway;
  /** Maximum of transactions per request to `POST /transactions`. */
  readonly poolMaxPerRequest: number;
  /**
   * Reads the rows of a response from one snapshot (`read/port.ts`): all parts of the response agree with its
   * chainmeta.
   *
   * @throws {SnapshotError}
   */
  read<T>(request: FastifyRequest, work: (snapshot: Snapshot) => Promise<T>): Promise<T>;
  readonly timestampOf: TimestampOf;
  readonly chainmeta: (head: Head) => { readonly chainmeta: JsonText<Chainmeta> };
  readonly addressOf: (publicKey: string) => string;
  /** Unix time in milliseconds. */
  readonly nowMs: () => number;
};

/** Adds the routes of a resource, whose paths are relative to the prefix; each resource has its own file. */
export type Resource = (app: Server, api: Api) => void;
