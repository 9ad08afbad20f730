/** Transactions about the wallet itself, and about who forges for it. */
import { builders, bytesToHex } from "@uniknode/protocol";
import { SendError } from "../../submission/error.ts";
import { type Given, kind } from "./kind.ts";
import { readHex64, readMultihash } from "./read.ts";

export const secondSignature = kind(
  "second-signature",
  "demand a second passphrase for all that the wallet sends from now on",
  (command) => command,
  () =>
    async ({ envelope, readSecondKeys }) =>
      builders.secondSignature({ ...envelope, publicKey: bytesToHex((await readSecondKeys()).publicKey) }),
);

export const vote = kind<[delegate: string]>(
  "vote",
  "vote for a delegate",
  (command) => command.argument("<delegate>", "username (the id of its unik), address or public key"),
  ([id]) =>
    async ({ client, envelope }) => {
      const { data: delegate } = await client.delegates.get(id);
      return builders.unsVote({ ...envelope, vote: `+${delegate.publicKey}` });
    },
);

export const unvote = kind(
  "unvote",
  "withdraw the vote of the wallet",
  (command) => command,
  () =>
    ({ envelope, address, wallet }) => {
      if (!wallet?.vote) throw nothing(address, `${address} votes for nobody`);
      return builders.unsVote({ ...envelope, vote: `-${wallet.vote}` });
    },
);

export const registerDelegate = kind<[tokenId: string | undefined]>(
  "register-delegate",
  "become a delegate, under the id of a unik of the wallet",
  (command) =>
    command.argument("[unik]", "its id; the first unik of the wallet if it is left out", readHex64),
  ([tokenId]) =>
    (given) =>
      builders.unsDelegateRegister({ ...given.envelope, tokenId: tokenId ?? firstUnik(given) }),
);

export const resignDelegate = kind(
  "resign-delegate",
  "be a delegate no more, for ever",
  (command) => command,
  () =>
    ({ envelope }) =>
      builders.unsDelegateResign(envelope),
);

export const ipfs = kind<[multihash: string]>(
  "ipfs",
  "register the hash of a file",
  (command) => command.argument("<hash>", "its multihash, as IPFS shows it: Qm...", readMultihash),
  ([multihash]) =>
    ({ envelope }) =>
      builders.ipfs({ ...envelope, multihash }),
);

/** The first one decides the type of a delegate (state.md 2). */
function firstUnik({ address, wallet }: Given): string {
  const [id] = Object.keys(wallet?.attributes.tokens ?? {});
  if (id === undefined) throw nothing(address, `${address} owns no unik`);
  return id;
}

const nothing = (address: string, message: string) =>
  new SendError({ code: "SEND_NOTHING_THERE", address }, message);
