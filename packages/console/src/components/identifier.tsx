/** Shows ids, addresses and keys: shortened in the middle, copied in full. Names are cut at their end. */
import { CopyButton } from "./copy-button.tsx";
import { shortened } from "./format.ts";

export type IdentifierProps = {
  readonly id: string;
  /** Label, such as `block id` or `address`. */
  readonly what: string;
  /** URL of its page. */
  readonly href?: string | undefined;
  /** Text shown instead, such as the name of a delegate. */
  readonly name?: string | undefined;
  /** Shows all of it, on several lines if necessary. */
  readonly isWhole?: boolean;
};

export function Identifier({ id, what, href, name, isWhole = false }: IdentifierProps) {
  const text = name ?? (isWhole ? id : shortened(id));
  // A name can be a shortened id.
  const title = name?.includes("…") ? id : (name ?? id);
  const kind = name !== undefined ? "id name" : isWhole ? "id whole" : "id";
  return (
    <span class={kind}>
      {href === undefined ? (
        <span title={title}>{text}</span>
      ) : (
        <a href={href} title={title}>
          {text}
        </a>
      )}
      <CopyButton text={id} what={what} />
    </span>
  );
}

/** URLs of pages of the console. */
export const hrefOf = {
  block: (id: string | number) => `/console/blocks/${encodeURIComponent(id)}`,
  transaction: (id: string) => `/console/transactions/${encodeURIComponent(id)}`,
  wallet: (id: string) => `/console/wallets/${encodeURIComponent(id)}`,
  unik: (id: string) => `/console/uniks/${encodeURIComponent(id)}`,
  delegate: (id: string) => `/console/delegates/${encodeURIComponent(id)}`,
};

export const BlockId = ({ id, isWhole }: { id: string; isWhole?: boolean }) => (
  <Identifier id={id} what="block id" href={hrefOf.block(id)} isWhole={isWhole ?? false} />
);
export const TransactionId = ({ id, isWhole }: { id: string; isWhole?: boolean }) => (
  <Identifier id={id} what="transaction id" href={hrefOf.transaction(id)} isWhole={isWhole ?? false} />
);
export const Address = ({ address, isWhole }: { address: string; isWhole?: boolean }) => (
  <Identifier id={address} what="address" href={hrefOf.wallet(address)} isWhole={isWhole ?? false} />
);
export const PublicKey = ({ publicKey, isWhole }: { publicKey: string; isWhole?: boolean }) => (
  <Identifier id={publicKey} what="public key" href={hrefOf.wallet(publicKey)} isWhole={isWhole ?? false} />
);
export const UnikId = ({
  id,
  name,
  isWhole,
}: {
  id: string;
  name?: string | undefined;
  isWhole?: boolean;
}) => <Identifier id={id} what="unik id" href={hrefOf.unik(id)} name={name} isWhole={isWhole ?? false} />;
