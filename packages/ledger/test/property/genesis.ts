/**
 * First block of the random chains: funds for every account, five delegates, two issuing tokens, some votes.
 */
import {
  type Block,
  encodeTransaction,
  keysFromPassphrase,
  present,
  type SealedTransaction,
  sealedFromTrustedBytes,
  signTransaction,
  type TransactionBody,
} from "@uniknode/protocol";
import { publicKeyOf } from "../../test-support/fixtures.ts";
import { unik } from "../../test-support/uniks.ts";
import {
  ACTORS,
  addressOfActor,
  digest,
  GENESIS,
  GENESIS_DELEGATES,
  ISSUERS,
  network,
  type Proposal,
  proposal,
} from "./world.ts";

const FORTUNE = 100_000_000_000n;
/** Enough for some fees only. */
const PITTANCE = 60_000_000n;

const proposals: readonly (readonly [type: string, Proposal])[] = [
  ...ACTORS.map((name): [string, Proposal] => {
    const members = { amount: name === "poor" ? PITTANCE : FORTUNE, recipientId: addressOfActor(name) };
    return ["1/0", proposal(GENESIS, undefined, members)];
  }),
  ...GENESIS_DELEGATES.map((username): [string, Proposal] => [
    "1/2",
    proposal(username, { delegate: { username } }),
  ]),
  ...ISSUERS.map((name): [string, Proposal] => [
    "2000/0",
    proposal(name, { nft: unik(name, { type: "2" }) }),
  ]),
  ["1/3", proposal("alice", { votes: [`+${publicKeyOf("g1")}`] })],
  ["1/3", proposal("bob", { votes: [`+${publicKeyOf("g2")}`] })],
];

function sealed(type: string, { sender, members }: Proposal): SealedTransaction {
  const [typeGroup, number] = type.split("/").map(Number);
  const body: TransactionBody = {
    version: 2,
    network: network.description.pubKeyHash,
    typeGroup: present(typeGroup, "typeGroup"),
    type: present(number, "number"),
    nonce: 1n,
    senderPublicKey: publicKeyOf(sender),
    fee: 0n,
    amount: 0n,
    ...members,
  };
  const bytes = encodeTransaction(signTransaction(body, keysFromPassphrase(sender)));
  return sealedFromTrustedBytes(bytes);
}

export function genesisBlock(): Block {
  const transactions = proposals.map(([type, made]) => sealed(type, made));
  const id = digest("genesis block");
  return {
    transactions,
    header: {
      id,
      idHex: id,
      version: 0,
      timestamp: 0,
      height: 1,
      previousBlock: "0",
      previousBlockHex: "0",
      numberOfTransactions: transactions.length,
      totalAmount: transactions.reduce((sum, { data }) => sum + data.amount, 0n),
      totalFee: 0n,
      reward: 0n,
      payloadLength: 0,
      payloadHash: id,
      generatorPublicKey: publicKeyOf(GENESIS),
      blockSignature: "",
    },
  };
}
