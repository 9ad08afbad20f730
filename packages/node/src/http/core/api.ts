/** Dependencies of the resources of the API, with the conversions that responses share. */
import { addressFromPublicKey, createSlots, type Network } from "@uniknode/protocol";
import type { FastifyRequest } from "fastify";
import type { RemoteGateway } from "../../gateway/gateway.ts";
import type { FeePolicy } from "../../pool/pool-options.ts";
import type { Head, ReadModel, Snapshot } from "../../read/port.ts";
import type { Server } from "./app.ts";
import { snapshotAtLeast } from "./at-least.ts";
import { chainmeta, createTimestampOf } from "./values.ts";

/** Maximum number of cached addresses by public key. */
const MAX_ADDRESSES = 20_000;

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

type ApiDependencies = {
  readonly readModel: Pick<ReadModel, "head" | "snapshot">;
  readonly identity: Identity;
  readonly network: Network;
  readonly gateway: RemoteGateway;
  /** Unix time in milliseconds. */
  readonly nowMs: () => number;
};

export class Api implements Omit<ApiDependencies, "readModel"> {
  readonly identity: Identity;
  readonly network: Network;
  readonly gateway: RemoteGateway;
  /** Maximum of transactions per request to `POST /transactions`. */
  readonly poolMaxPerRequest: number;
  readonly nowMs: () => number;
  /** Converts seconds since the network epoch. */
  readonly timestampOf: ReturnType<typeof createTimestampOf>;
  readonly #readModel: ApiDependencies["readModel"];
  /** Each address costs two digests and the long division of base58, for every row of a page. */
  readonly #addresses = new Map<string, string>();

  constructor(poolMaxPerRequest: number, { readModel, identity, network, gateway, nowMs }: ApiDependencies) {
    this.#readModel = readModel;
    this.identity = identity;
    this.network = network;
    this.gateway = gateway;
    this.nowMs = nowMs;
    this.poolMaxPerRequest = poolMaxPerRequest;
    this.timestampOf = createTimestampOf(createSlots(network).unixMsOf);
  }

  /**
   * Reads the rows of a response from one snapshot (`read/port.ts`): all parts of the response agree with its
   * chainmeta.
   *
   * @throws {SnapshotError}
   */
  read<T>(request: FastifyRequest, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    const { atLeast } = request;
    const workWith = (snapshot: Snapshot) => {
      request.head = snapshot.head;
      return work(snapshot);
    };
    if (atLeast === null) return this.#readModel.snapshot(workWith);
    return snapshotAtLeast(this.#readModel, atLeast, workWith);
  }

  chainmeta(head: Head) {
    return { chainmeta: chainmeta(head, this.timestampOf) };
  }

  readonly addressOf = (publicKey: string): string => {
    const known = this.#addresses.get(publicKey);
    if (known !== undefined) return known;
    // Tracking recent use would cost more than occasionally computing all addresses again.
    if (this.#addresses.size >= MAX_ADDRESSES) this.#addresses.clear();
    const address = addressFromPublicKey(publicKey, this.network.description.pubKeyHash);
    // A copy: the key may be a slice, which would keep the text of the whole row in memory.
    this.#addresses.set(Buffer.from(publicKey, "latin1").toString("latin1"), address);
    return address;
  };
}

/** Adds the routes of a resource, whose paths are relative to the prefix; each resource has its own file. */
export type Resource = (app: Server, api: Api) => void;
