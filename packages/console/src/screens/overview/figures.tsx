/** Key figures of the chain. */
import type { ComponentChildren } from "preact";
import { Amount } from "../../components/amount.tsx";
import { countText } from "../../components/format.ts";
import { useNode, useResponse } from "../../data/node.ts";

/** Slow interval, because public nodes limit an address to a hundred requests per minute. */
const SLOWLY = { lasts: "session", everyMs: 30_000 } as const;

export function Figures() {
  const { api, head, configuration } = useNode();
  const blockchain = useResponse("blockchain", () => api.blockchain.get(), SLOWLY);
  const uniks = useResponse("uniks status", () => api.nfts.status(), SLOWLY);
  const peers = useResponse("peers count", () => api.peers.list().page({ limit: 1 }), SLOWLY);
  const transactions = useResponse("transactions newest", () => api.transactions.list().page({ limit: 10 }));
  const { blocktime, activeDelegates } = configuration.value?.constants ?? {};
  const unikCount = uniks.value?.data
    .flatMap(({ individual, organization, network }) => [individual, organization, network])
    .reduce((sum, count) => sum + Number(count), 0);
  return (
    <dl class="figures">
      <Figure name="Height" href="/console/blocks">
        {head.value && countText(head.value.height)}
      </Figure>
      <Figure name="Transactions" href="/console/transactions">
        {transactions.value && countText(transactions.value.meta.totalCount)}
      </Figure>
      <Figure name="Supply" href="/console/wallets" isWide>
        {blockchain.value && <Amount value={blockchain.value.data.supply} hasSymbol />}
      </Figure>
      <Figure name="Uniks" href="/console/uniks">
        {unikCount !== undefined && countText(unikCount)}
      </Figure>
      <Figure name="Delegates" href="/console/delegates">
        {activeDelegates}
      </Figure>
      <Figure name="Block time" href="/console/delegates">
        {blocktime !== undefined && `${blocktime} s`}
      </Figure>
      <Figure name="Peers" href="/console/node">
        {peers.value && countText(peers.value.meta.totalCount)}
      </Figure>
    </dl>
  );
}

type FigureProps = {
  readonly name: string;
  readonly href: string;
  readonly isWide?: boolean;
  readonly children: ComponentChildren;
};

function Figure({ name, href, isWide, children }: FigureProps) {
  return (
    <div class={isWide ? "wide" : ""}>
      <dt>{name}</dt>
      <dd>
        <a href={href}>{children ?? "\u00a0"}</a>
      </dd>
    </div>
  );
}
