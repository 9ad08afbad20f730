/** Dependencies of the resources, with the conversions that responses share. */
import { addressFromPublicKey, createSlots } from "@uniknode/protocol";
import { perHead } from "../../read/head.ts";
import type { ReadModel, Snapshot } from "../../read/port.ts";
import type { Api } from "../core/api.ts";
import { snapshotAtLeast } from "../core/at-least.ts";
import { chainmeta, createTimestampOf } from "../responses/timestamp.ts";

/** Maximum number of cached addresses by public key. */
const MAX_ADDRESSES = 20_000;

export type ApiSources = Pick<Api, "identity" | "network" | "gateway" | "nowMs"> & {
  readonly readModel: Pick<ReadModel, "head" | "snapshot">;
};

export function createApi(
  { readModel, network, identity, gateway, nowMs }: ApiSources,
  poolMaxPerRequest: number,
): Api {
  const timestampOf = createTimestampOf(createSlots(network).unixMsOf);
  // Each address costs two digests and the long division of base58, for every row of a page.
  const addresses = new Map<string, string>();
  return {
    identity,
    network,
    gateway,
    poolMaxPerRequest,
    read(request, work) {
      const { atLeast } = request;
      const workWith = (snapshot: Snapshot) => {
        request.head = snapshot.head;
        return work(snapshot);
      };
      return atLeast === null ? readModel.snapshot(workWith) : snapshotAtLeast(readModel, atLeast, workWith);
    },
    timestampOf,
    chainmeta: perHead((head) => ({ chainmeta: chainmeta(head, timestampOf) })),
    addressOf(publicKey) {
      const known = addresses.get(publicKey);
      if (known !== undefined) return known;
      // Tracking recent use would cost more than occasionally computing all addresses again.
      if (addresses.size >= MAX_ADDRESSES) addresses.clear();
      const address = addressFromPublicKey(publicKey, network.description.pubKeyHash);
      // A copy: the key may be a slice, which would keep the text of the whole row in memory.
      addresses.set(Buffer.from(publicKey, "latin1").toString("latin1"), address);
      return address;
    },
    nowMs,
  };
}
