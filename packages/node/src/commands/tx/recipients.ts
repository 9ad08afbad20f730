/** Checks the recipients of a transaction. */
import { isAddress, type TransactionBody } from "@uniknode/protocol";
import { ConfigError } from "../../platform/config-error.ts";
import type { Sender } from "../../submission/sender.ts";

/**
 * Refuses addresses of other networks: no key exists for them on this network, but the chain accepts some such payments.
 *
 * @throws {ConfigError} when a recipient has an address of another network
 */
export function checkRecipients({ recipientId, asset }: TransactionBody, { network, address }: Sender): void {
  const recipients = [recipientId, ...(asset?.payments ?? []).map((payment) => payment.recipientId)];
  const foreign = recipients.find(
    (recipient) => recipient !== undefined && !isAddress(recipient, network.description.pubKeyHash),
  );
  if (foreign === undefined) return;
  throw new ConfigError(
    `${foreign} is an address of another network; addresses of this one look like ${address}`,
  );
}
