/** Transactions whose senders have coins or have signed, so that they are refused late. */
import { randomBytes } from "node:crypto";
import { builders, signTransaction, transactionToJson } from "@uniknode/protocol";
import type { Attack } from "../attack-definition.ts";
import { junkEntries, junkSigned, manyPayments, type NextText } from "../junk-transactions.ts";
import { PARTICIPANTS } from "../multisignature-wallet.ts";
import type { Accounts } from "../sender.ts";
import { submissions } from "../submissions.ts";

/** More than the transactions of a request, so that consecutive requests have different contents. */
const CONTENTS = 120;
/** Properties with the longest names and values; 40 such transactions reach the maximum size of a body. */
const PROPERTIES = 45;
const MAX_LENGTH = 255;

/** Payments with the key of a funded account: only the signature is wrong. */
async function foreignPayments(accounts: Accounts): Promise<NextText[]> {
  const { network, funded } = accounts;
  const nonce = await accounts.nextNonce();
  return Array.from({ length: CONTENTS }, () =>
    junkSigned(manyPayments(network, { senderPublicKey: funded.publicKey, nonce }), { isSigned: true }),
  );
}

/** Registrations of multisignature wallets with a valid signature of the sender and none of the participants. */
function registrations(accounts: Accounts): NextText[] {
  const { network } = accounts;
  const publicKeys = Array.from({ length: PARTICIPANTS }, () => accounts.unfunded().publicKey);
  return Array.from({ length: CONTENTS }, () => {
    const { publicKey, keys } = accounts.unfunded();
    const envelope = { network, senderPublicKey: publicKey, nonce: 1n };
    const body = builders.multiSignature({ ...envelope, min: 1, publicKeys });
    return () => {
      const signed = signTransaction({ ...body, signatures: junkEntries(PARTICIPANTS) }, keys);
      return JSON.stringify(transactionToJson(signed));
    };
  });
}

/** Large mints of unfunded accounts with wrong ids, which are cheap to vary. */
function largeMints(accounts: Accounts): NextText[] {
  const { network } = accounts;
  const longText = () => randomBytes(MAX_LENGTH).toString("hex").slice(0, MAX_LENGTH);
  return Array.from({ length: CONTENTS }, () => {
    const { publicKey, keys } = accounts.unfunded();
    const properties = Object.fromEntries(Array.from({ length: PROPERTIES }, () => [longText(), longText()]));
    const envelope = { network, senderPublicKey: publicKey, nonce: 1n };
    const body = builders.nftMint({ ...envelope, tokenId: randomBytes(32).toString("hex"), properties });
    const { id: _, ...members } = transactionToJson(signTransaction(body, keys));
    const rest = JSON.stringify(members).slice(1);
    return () => `{"id":"${randomBytes(32).toString("hex")}",${rest}`;
  });
}

export const foreignFlood: Attack = {
  name: "payments of another",
  description: "multi-payments of a funded account to 128 recipients, with wrong signatures",
  run: submissions({ network: 53, addresses: 45, perMinute: 61 }, foreignPayments),
};

export const registrationFlood: Attack = {
  name: "junk registrations",
  description:
    "registrations of multisignature wallets with the right signature of the sender and 16 wrong ones",
  run: submissions({ network: 54, addresses: 11, perMinute: 47 }, registrations),
};

export const largeFlood: Attack = {
  name: "large mints",
  description:
    "well signed mints of accounts without coins, with as many long properties as a request can carry",
  run: submissions({ network: 56, addresses: 45, perMinute: 61 }, largeMints),
};
