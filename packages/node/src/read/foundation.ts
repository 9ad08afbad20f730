/** Payments of mints and updates to the foundation of a network, which are not part of the transactions themselves. */
import { addressFromPublicKey, type Network } from "@uniknode/protocol";

export type Foundation = {
  /** Absent in a network without a foundation. */
  readonly address: string | undefined;
  /** First height from which updates no longer pay; absent if no height is set. */
  readonly until: number | undefined;
};

export const foundationOf = ({ description, milestones }: Network): Foundation => ({
  address:
    description.foundation && addressFromPublicKey(description.foundation.publicKey, description.pubKeyHash),
  until: milestones.find(({ unsTokenEcoV3 }) => unsTokenEcoV3)?.height,
});
