/** Commands for transactions of the wallet itself: second signature, votes and delegates. */
import { findDelegate } from "@uniknode/client";
import { builders, bytesToHex } from "@uniknode/protocol";
import { SendError } from "../../submission/error.ts";
import { type BuildContext, kind } from "./kind.ts";
import { readHex64, readMultihash } from "./read.ts";

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
