/** Checks the recipients of a transaction. */
import { isAddress, type TransactionBody } from "@uniknode/protocol";
import { ConfigError } from "../../platform/config-error.ts";
import type { Sender } from "../../submission/sender.ts";

/**
 * Refuses addresses of other networks: the chain accepts some payments to them, but no key could spend the amount.
 *
 * @throws {ConfigError} if a recipient has an address of another network
 */
export function checkRecipients({ recipientId, asset }: TransactionBody, { network, address }: Sender): void {
  const recipients = [recipientId, ...(asset?.payments ?? []).map((payment) => payment.recipientId)];
  const foreign = recipients.find(
    (recipient) => recipient !== undefined && !isAddress(recipient, network.description.pubKeyHash),
  );
  if (foreign === undefined) return;
  throw new ConfigError(
    `${foreign} is an address of another network; addresses of this network look like ${address}`,
  );
}
