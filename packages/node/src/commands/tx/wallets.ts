/** Commands for transactions of wallets: payments, locks, votes, second signatures and delegates. */
import { findDelegate } from "@uniknode/client";
import { builders, bytesToHex } from "@uniknode/protocol";
import { ConfigError } from "../../platform/coded-error.ts";
import { SendError } from "../../submission/sender.ts";
import {
  type BuildContext,
  kind,
  type Payment,
  readAddress,
  readHex64,
  readLimit,
  readMessage,
  readMultihash,
  readPayable,
  readPayment,
} from "./kind.ts";

type WithMessage = { readonly vendorField?: string };

const MESSAGE = ["--vendor-field <TEXT>", "Public message, up to 255 bytes.", readMessage] as const;
const AMOUNT = "amount in tokens, such as 12.5";

export const transfer = kind<[recipientId: string, amount: bigint], WithMessage>(
  "transfer",
  "pay an amount to an address",
  (command) =>
    command
      .argument("<address>", "address of the recipient", readAddress)
      .argument("<amount>", AMOUNT, readPayable)
      .option(...MESSAGE),
  ([recipientId, amount], { vendorField = "" }) =>
    ({ envelope }) =>
      builders.transfer({ ...envelope, recipientId, amount, vendorField }),
);

export const multiPayment = kind<[payments: readonly Payment[]], WithMessage>(
  "multi-payment",
  "pay amounts to at least two addresses",
  (command) =>
    command
      .argument("<address=amount...>", "recipients and their amounts in tokens", readPayment)
      .option(...MESSAGE),
  ([payments], { vendorField = "" }) => {
    if (payments.length < 2) throw new ConfigError("multi-payment: at least two ADDRESS=AMOUNT are required");
    return ({ envelope, network }) => {
      const { multiPaymentLimit = Number.POSITIVE_INFINITY } = network.milestoneAt(envelope.height);
      if (payments.length > multiPaymentLimit) {
        throw new ConfigError(
          `multi-payment: at most ${multiPaymentLimit} payments are allowed, not ${payments.length}; send the others with a second command`,
        );
      }
      return builders.multiPayment({ ...envelope, payments, vendorField });
    };
  },
);

type LockOptions = WithMessage & { readonly untilHeight?: number; readonly untilTime?: number };

export const lock = kind<[recipientId: string, amount: bigint, secretHash: string], LockOptions>(
  "lock",
  "lock an amount; the recipient claims it with a secret",
  (command) =>
    command
      .argument("<address>", "address of the recipient", readAddress)
      .argument("<amount>", AMOUNT, readPayable)
      .argument("<secret-hash>", "SHA-256 of the 32-byte secret, as 64 hexadecimal digits", readHex64)
      .option(
        "--until-height <HEIGHT>",
        "Height from which it can be refunded; more than one round above the head.",
        readLimit,
      )
      .option(
        "--until-time <SECONDS>",
        "Time from which it can be refunded, in seconds since the epoch of the network.",
        readLimit,
      )
      .option(...MESSAGE),
  ([recipientId, amount, secretHash], { vendorField = "", ...limits }) => {
    const expiration = toExpiration(limits);
    return ({ envelope }) =>
      builders.htlcLock({ ...envelope, recipientId, amount, secretHash, expiration, vendorField });
  },
);

/** Types of expiration (transactions.md 6.3). */
const BY_TIME = 1;
const BY_HEIGHT = 2;

function toExpiration({ untilHeight, untilTime }: LockOptions) {
  if (untilHeight !== undefined && untilTime === undefined) return { type: BY_HEIGHT, value: untilHeight };
  if (untilTime !== undefined && untilHeight === undefined) return { type: BY_TIME, value: untilTime };
  throw new ConfigError("lock: exactly one of --until-height and --until-time is required");
}

export const claim = kind<[lockTransactionId: string, unlockSecret: string]>(
  "claim",
  "claim a locked amount for its recipient",
  (command) =>
    command
      .argument("<lock>", "id of the lock transaction", readHex64)
      .argument("<secret>", "secret as 64 hexadecimal digits; it becomes public", readHex64),
  ([lockTransactionId, unlockSecret]) =>
    ({ envelope }) =>
      builders.htlcClaim({ ...envelope, lockTransactionId, unlockSecret }),
);

export const refund = kind<[lockTransactionId: string]>(
  "refund",
  "return an expired locked amount to its sender",
  (command) => command.argument("<lock>", "id of the lock transaction", readHex64),
  ([lockTransactionId]) =>
    ({ envelope }) =>
      builders.htlcRefund({ ...envelope, lockTransactionId }),
);

export const secondSignature = kind(
  "second-signature",
  "require a second passphrase for all later transactions of the wallet",
  (command) => command,
  () =>
    async ({ envelope, readSecondKeys }) =>
      builders.secondSignature({ ...envelope, publicKey: bytesToHex((await readSecondKeys()).publicKey) }),
);

export const vote = kind<[delegate: string]>(
  "vote",
  "vote for a delegate",
  (command) =>
    command.argument("<delegate>", "displayed name, username (the id of its unik), address or public key"),
  ([text]) =>
    async ({ client, envelope }) => {
      const { data: delegate } = await findDelegate(client, text);
      return builders.unsVote({ ...envelope, vote: `+${delegate.publicKey}` });
    },
);

export const unvote = kind(
  "unvote",
  "withdraw the vote of the wallet",
  (command) => command,
  () =>
    ({ envelope, address, wallet }) => {
      if (!wallet?.vote)
        throw missing(address, `${address} has no vote to withdraw; is the passphrase correct?`);
      return builders.unsVote({ ...envelope, vote: `-${wallet.vote}` });
    },
);

export const registerDelegate = kind<[tokenId: string | undefined]>(
  "register-delegate",
  "register the wallet as a delegate, named by the id of one of its uniks",
  (command) =>
    command.argument("[unik]", "id of the unik (default: the first unik of the wallet)", readHex64),
  ([tokenId]) =>
    (given) =>
      builders.unsDelegateRegister({ ...given.envelope, tokenId: tokenId ?? firstUnik(given) }),
);

export const resignDelegate = kind(
  "resign-delegate",
  "resign as a delegate, permanently",
  (command) => command,
  () =>
    ({ envelope }) =>
      builders.unsDelegateResign(envelope),
);

export const ipfs = kind<[multihash: string]>(
  "ipfs",
  "register the hash of a file",
  (command) =>
    command.argument("<hash>", "hash of the file: an IPFS multihash, which begins with Qm", readMultihash),
  ([multihash]) =>
    ({ envelope }) =>
      builders.ipfs({ ...envelope, multihash }),
);

/** Returns the first unik, which determines the type of a delegate (state.md 2). */
function firstUnik({ address, wallet }: BuildContext): string {
  const [id] = Object.keys(wallet?.attributes.tokens ?? {});
  if (id === undefined) throw missing(address, `${address} owns no unik; is the passphrase correct?`);
  return id;
}

const missing = (address: string, message: string) =>
  new SendError({ code: "SEND_NOTHING_THERE", address }, message);
