/** Wallet, by address, public key or delegate username. */
import type { SingleWallet } from "@uniknode/client";
import { useRoute } from "preact-iso/router";
import { Amount } from "../../components/amount.tsx";
import { Badge } from "../../components/badge.tsx";
import { DelegateName } from "../../components/delegate-name.tsx";
import { countText, shortened } from "../../components/format.ts";
import { Address, hrefOf, PublicKey } from "../../components/identifier.tsx";
import { Facts, Page } from "../../components/page.tsx";
import { ResponseView } from "../../components/states.tsx";
import { UrlTabs } from "../../components/url-tabs.tsx";
import { useNode, useResponse } from "../../data/node.ts";
import { Balances } from "./balance.tsx";
import { History } from "./history.tsx";
import { Locks, Uniks, Votes } from "./sections.tsx";

export default function WalletScreen() {
  const { api } = useNode();
  const { id = "" } = useRoute().params;
  const response = useResponse(`wallet ${id}`, () => api.wallets.get(id));
  const wallet = response.value?.data;
  return (
    <Page
      kind="Wallet"
      title={shortened(wallet?.address ?? id)}
      aside={wallet && <Actions wallet={wallet} />}
    >
      <ResponseView response={response} what="The wallet">
        {({ data }) => <Content wallet={data} />}
      </ResponseView>
    </Page>
  );
}

const Actions = ({ wallet: { address, isDelegate, username } }: { wallet: SingleWallet }) => (
  <>
    {isDelegate && <a href={hrefOf.delegate(username)}>Its delegate</a>}
    <a class="button" href={`/console/send?from=${address}`}>
      Send from it
    </a>
    <a class="button" href={`/console/send?to=${address}`}>
      Send to it
    </a>
  </>
);

const VIEWS = [
  { id: "history", title: "History" },
  { id: "balance", title: "Balance" },
  { id: "uniks", title: "Uniks" },
  { id: "votes", title: "Votes" },
  { id: "locks", title: "Locks" },
];

function Content({ wallet }: { wallet: SingleWallet }) {
  const { configuration } = useNode();
  const views = VIEWS.filter(({ id }) => id !== "balance" || configuration.value?.history);
  const { address, publicKey, secondPublicKey, balance, lockedBalance, nonce, vote, multiSignature } = wallet;
  return (
    <>
      <Facts
        facts={[
          ["Balance", <Amount key="balance" value={balance} />],
          ["In locks", lockedBalance !== undefined && <Amount value={lockedBalance} />],
          ["Address", <Address key="address" address={address} isWhole />],
          [
            "Public key",
            publicKey ? <PublicKey publicKey={publicKey} isWhole /> : "unknown until it sends a transaction",
          ],
          [
            "Second public key",
            secondPublicKey !== null && <PublicKey publicKey={secondPublicKey} isWhole />,
          ],
          ["Transactions sent", countText(BigInt(nonce))],
          ["Votes for", vote && <DelegateName id={vote} />],
          [
            "Signed by",
            multiSignature && (
              <>
                {multiSignature.min} of {multiSignature.publicKeys.length}:{" "}
                {multiSignature.publicKeys.map((key) => (
                  <PublicKey key={key} publicKey={key} />
                ))}
              </>
            ),
          ],
          ["Delegate", wallet.isResigned && <Badge tone="bad">resigned</Badge>],
        ]}
      />
      <UrlTabs label="The wallet" tabs={views}>
        {(view) => <View name={view} address={address} />}
      </UrlTabs>
    </>
  );
}

function View({ name, address }: { name: string; address: string }) {
  if (name === "balance") return <Balances address={address} />;
  if (name === "uniks") return <Uniks address={address} />;
  if (name === "votes") return <Votes address={address} />;
  if (name === "locks") return <Locks address={address} />;
  return <History address={address} />;
}
