/** Who receives what a transaction moves. */
import { isAddress, type TransactionBody } from "@uniknode/protocol";
import { ConfigError } from "../../platform/config-error.ts";
import type { Sender } from "../../submission/sender.ts";

/**
 * Nobody has a key for an address of another network, and the chain takes some transactions to them all the same.
 *
 * @throws {ConfigError} when there is one among the recipients
 */
export function checkRecipients({ recipientId, asset }: TransactionBody, { network, address }: Sender): void {
  const recipients = [recipientId, ...(asset?.payments ?? []).map((payment) => payment.recipientId)];
  const foreign = recipients.find(
    (recipient) => recipient !== undefined && !isAddress(recipient, network.description.pubKeyHash),
  );
  if (foreign === undefined) return;
  throw new ConfigError(`${foreign} is an address of another network; here they are such as ${address}`);
}
