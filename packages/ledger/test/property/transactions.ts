import {
  encodeTransaction,
  multiSignTransaction,
  present,
  type SealedTransaction,
  sealedFromTrustedBytes,
  secondSignTransaction,
  type TransactionBody,
} from "@uniknode/protocol";
import { keysOf } from "../../test-support/fixtures.ts";
import type { ShownWallet } from "../../test-support/holdings.ts";
import { coreProposers, secondOf } from "./core.ts";
import { magistrateProposers } from "./magistrate.ts";
import type { Random } from "./random.ts";
import { unsProposers } from "./uns.ts";
import { keyOfActor, network, PARTICIPANTS, SHARED, type World, walletOfActor } from "./world.ts";

const proposers = { ...coreProposers, ...magistrateProposers, ...unsProposers };

/** Every type as "group/type". */
export const TYPES: readonly string[] = Object.keys(proposers);

/** Transaction of a type for the next block; an error makes most, but not all, of them invalid. */
export function randomTransaction(world: World, type: string): SealedTransaction {
  const { random } = world;
  const { sender, members } = present(proposers[type], "an item of proposers")(world);
  const [typeGroup, number] = type.split("/").map(Number);
  const wallet = walletOfActor(world, sender);
  const body: TransactionBody = {
    version: 2,
    network: network.description.pubKeyHash,
    typeGroup: present(typeGroup, "typeGroup"),
    type: present(number, "number"),
    nonce: wallet.nonce + 1n,
    senderPublicKey: keyOfActor(sender),
    fee: BigInt(1 + random.below(50_000_000)),
    amount: 0n,
    ...members,
  };
  const isFaulty = random.oneIn(7);
  const faulty = isFaulty ? withFault(random, body) : body;
  const signed = isFaulty && random.oneIn(3) ? faulty : withWalletSignatures(sender, wallet, faulty, random);
  // The bytes determine the result.
  return sealedFromTrustedBytes(encodeTransaction(signed));
}

function withFault(random: Random, body: TransactionBody): TransactionBody {
  const faults: (() => TransactionBody)[] = [
    () => ({ ...body, nonce: present(body.nonce, "nonce") + BigInt(random.below(3)) - 1n }),
    () => ({ ...body, fee: body.fee * 10_000n }),
    () => ({ ...body, secondSignature: "ab".repeat(64) }),
    () => ({ ...body, signatures: [`09${"cd".repeat(64)}`] }),
    () => ({
      ...body,
      senderPublicKey: keyOfActor(present(PARTICIPANTS[0], "an item of PARTICIPANTS")),
    }),
  ];
  return random.pick(faults)();
}

/** Signatures that the rules verify; a ledger does not verify the sender's own. */
function withWalletSignatures(
  sender: string,
  { attributes }: Pick<ShownWallet, "attributes">,
  body: TransactionBody,
  random: Random,
): TransactionBody {
  let signed = body;
  if (body.asset?.multiSignature) {
    for (const index of [0, 1, 2]) signed = signAs(signed, index, random);
  } else if (sender === SHARED && attributes.multiSignature) {
    for (const index of [2, 0]) signed = signAs(signed, index, random);
  }
  if (attributes.secondPublicKey) {
    // A Schnorr signature must precede the second one for the bytes to be decodable.
    signed = { ...signed, signature: "00".repeat(64) };
    signed = secondSignTransaction(signed, keysOf(secondOf(sender)));
  }
  return signed;
}

/** Entry of a participant; occasionally the signature of another account. */
function signAs(body: TransactionBody, index: number, random: Random): TransactionBody {
  const signer = random.oneIn(15) ? "stranger" : present(PARTICIPANTS[index], "an item of PARTICIPANTS");
  return multiSignTransaction(body, index, keysOf(signer));
}
