/** A branch with transactions of every type, in which everything that can begin and end does so. */

import {
  addressFromPublicKey,
  builders,
  bytesToHex,
  encodeTransaction,
  hexToBytes,
  keysFromPassphrase,
  multiSignaturePublicKey,
  multiSignTransaction,
  type Network,
  type SealedTransaction,
  secondSignTransaction,
  sha256,
  type Transaction,
  type TransactionBody,
  utf8ToBytes,
} from "@uniknode/protocol";
import type { DevAccount } from "../../../src/dev-chain/keys.ts";
import { seal, typeOfKind } from "../../../src/dev-chain/network.ts";
import { present } from "../../../src/platform/present.ts";
import { cast, type ForkingChain } from "../../../test-support/chain/forking.ts";

const { factory: issuer, delegates } = cast;
const ISSUED_AT = 1_704_067_300;
const ONE = 100_000_000n;
const IPFS = "QmYSK2JyM3RyDyB52caZCTKFR3HKniEcMnNJYdk8DQ6KKB";
const INDIVIDUAL = typeOfKind("individual");

/** From the next block on, entities replace businesses and bridgechains. */
export const ENTITIES_HEIGHT = 10;
/** Blocks that a lock must outlive. */
const ROUND = 6;

const hex64 = (text: string) => bytesToHex(sha256(utf8ToBytes(text)));

/**
 * Forges the branch on a head below `ENTITIES_HEIGHT`.
 * @param variant of two branches everything differs: slots, amounts, names, and senders
 */
export async function forgeDeeds(
  { chain, forge }: ForkingChain,
  network: Network,
  variant: number,
): Promise<Uint8Array[]> {
  const blocks: Uint8Array[] = [];
  const nonces = new Map<string, bigint>();
  const amount = BigInt(1_000 + variant);
  const name = `name-${variant}`;
  const others = cast.accounts.slice(3);
  const start = variant % others.length;
  const rotated = [...others.slice(start), ...others.slice(0, start)];
  const [ann, ben, cem, dan, eve] = rotated as [DevAccount, DevAccount, DevAccount, DevAccount, DevAccount];
  const [one, two, three] = cast.accounts as [DevAccount, DevAccount, DevAccount];
  const elected = present(delegates[0], "a delegate").account;
  const addressOf = (publicKey: string) => addressFromPublicKey(publicKey, network.description.pubKeyHash);

  async function block(...transactions: SealedTransaction[]): Promise<void> {
    blocks.push(await forge(transactions, blocks.length === 0 ? variant : 0));
  }

  /** Common members of a wallet's transactions. */
  function sequence(address: string) {
    const nonce = (nonces.get(address) ?? chain.state.get("wallets", address)?.nonce ?? 0n) + 1n;
    nonces.set(address, nonce);
    return { network, nonce };
  }
  const by = (account: DevAccount) => ({ ...sequence(account.address), senderPublicKey: account.publicKey });

  const make = <Members extends object>(
    account: DevAccount,
    build: (options: ReturnType<typeof by> & Members) => TransactionBody,
    members: Members,
  ) => seal(build({ ...by(account), ...members }), account);

  /** Common members of transactions that the factory certifies. */
  const certificate = (account: DevAccount, tokenId: string) => ({
    ...sequence(account.address),
    keys: account.keys,
    tokenId,
    issuedAt: ISSUED_AT,
    factory: { tokenId: issuer.unikId, keys: issuer.keys },
    cost: 0n,
  });

  const secondKeys = keysFromPassphrase(`second ${variant}`);
  const cold = addressOf(bytesToHex(keysFromPassphrase(`cold ${variant}`).publicKey));
  await block(
    make(ann, builders.transfer, { recipientId: ben.address, amount, vendorField: `tea ${variant} ☕` }),
    make(ann, builders.transfer, { recipientId: cold, amount }),
    make(ben, builders.multiPayment, {
      payments: [cem, dan].map(({ address }) => ({ recipientId: address, amount })),
    }),
    make(cem, builders.ipfs, { multihash: IPFS }),
    make(two, builders.businessRegistration, { business: { name, website: "https://example.com" } }),
  );

  const unlockSecret = hex64(`secret ${variant}`);
  const secretHash = bytesToHex(sha256(hexToBytes(unlockSecret)));
  const lock = (value: number) =>
    make(eve, builders.htlcLock, {
      recipientId: ann.address,
      amount: amount + BigInt(value),
      secretHash,
      expiration: { type: 2, value },
      vendorField: name,
    });
  const { height } = chain.head();
  const claimed = lock(height + 500);
  const expired = lock(height + 2 + ROUND);
  const open = lock(height + 1_000 + variant);
  const genesisHash = hex64(name);
  const ports = { "@arkecosystem/core-api": 4003 };
  await block(
    claimed,
    expired,
    open,
    make(two, builders.businessUpdate, { changes: { website: `https://${name}.example.com` } }),
    make(two, builders.bridgechainRegistration, {
      bridgechain: {
        name,
        genesisHash,
        seedNodes: ["203.0.113.1"],
        ports,
        bridgechainRepository: "https://example.com/bridge",
      },
    }),
  );

  const minted = hex64(`unik of ${name}`);
  const certified = hex64(`certified unik of ${name}`);
  await block(
    make(one, builders.nftUpdate, { tokenId: one.unikId, properties: { "usr/tea": name, "usr/gone": "1" } }),
    seal(
      builders.certifiedUpdate({
        ...certificate(one, one.unikId),
        properties: { "LifeCycle/Status": "3", "usr/gone": null },
      }),
      one,
    ),
    seal(
      builders.certifiedDisclosure({
        ...certificate(one, one.unikId),
        explicitValues: [name, `other-${name}`],
        kind: Number(INDIVIDUAL),
      }),
      one,
    ),
    make(one, builders.unsDelegateRegister, { tokenId: one.unikId }),
    make(ben, builders.nftMint, { tokenId: minted, properties: { type: INDIVIDUAL, "usr/shape": "round" } }),
    seal(
      builders.certifiedMint({
        ...certificate(cem, certified),
        properties: { type: typeOfKind("organization"), UnikVoucherId: name, "LifeCycle/Status": "3" },
      }),
      cem,
    ),
    make(ann, builders.htlcClaim, { lockTransactionId: claimed.data.id, unlockSecret }),
    make(two, builders.bridgechainUpdate, { bridgechainId: genesisHash, changes: { ports } }),
    make(two, builders.bridgechainResignation, { bridgechainId: genesisHash }),
  );

  const participants = { min: 2, publicKeys: [ann, ben, cem].map(({ publicKey }) => publicKey) };
  const shared = multiSignaturePublicKey(participants);
  const registration = signedByAll(builders.multiSignature({ ...by(eve), ...participants }), [ann, ben, cem]);
  await block(
    seal(registration, eve),
    make(ben, builders.transfer, { recipientId: addressOf(shared), amount: ONE }),
    make(ben, builders.unsVote, { vote: `+${one.publicKey}` }),
    make(elected, builders.unsVote, { vote: `-${elected.publicKey}` }),
    make(dan, builders.delegateRegistration, { username: `plain_${variant}` }),
    make(two, builders.businessResignation, {}),
  );

  const spending = builders.transfer({
    ...sequence(addressOf(shared)),
    senderPublicKey: shared,
    recipientId: cold,
    amount,
  });
  await block(
    sealed(signedByAll(spending, [ann, ben])),
    make(cem, builders.vote, { vote: `+${dan.publicKey}` }),
    make(eve, builders.vote, { vote: `+${dan.publicKey}` }),
    make(ben, builders.nftTransfer, { tokenId: minted, recipientId: cold }),
    seal(builders.certifiedTransfer({ ...certificate(cem, certified), recipientId: eve.address }), cem),
  );
  while (chain.head().height < ENTITIES_HEIGHT + ROUND) await block();

  const [bridge, business] = [0, 1].map((entitySubType) =>
    make(three, builders.entityRegistration, { entityType: entitySubType, entitySubType, name }),
  ) as [SealedTransaction, SealedTransaction];
  await block(
    bridge,
    business,
    make(cem, builders.vote, { vote: `-${dan.publicKey}` }),
    make(dan, builders.delegateResignation, {}),
    make(one, builders.unsDelegateResign, {}),
    make(eve, builders.htlcRefund, { lockTransactionId: expired.data.id }),
  );
  await block(
    make(three, builders.entityUpdate, {
      entityType: 0,
      entitySubType: 0,
      registrationId: bridge.data.id,
      ipfsData: IPFS,
    }),
    make(dan, builders.secondSignature, { publicKey: bytesToHex(secondKeys.publicKey) }),
    make(three, builders.entityResignation, {
      entityType: 1,
      entitySubType: 1,
      registrationId: business.data.id,
    }),
  );
  const { data: signed } = make(dan, builders.transfer, { recipientId: ann.address, amount });
  await block(sealed(secondSignTransaction(signed, secondKeys)));
  // Votes and resignations take effect in the next round.
  for (let more = ROUND + variant; more > 0; more--) await block();
  return blocks;
}

const signedByAll = (body: TransactionBody, people: readonly DevAccount[]): Transaction =>
  people.reduce((signed, { keys }, index) => multiSignTransaction(signed, index, keys), { ...body, id: "" });

const sealed = (data: Transaction): SealedTransaction => ({
  data,
  bytes: encodeTransaction(data),
  isVerified: true,
});
