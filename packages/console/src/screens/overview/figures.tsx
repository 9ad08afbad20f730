/** Key figures of the chain, and how much they have grown since the last visit. */
import type { ComponentChildren } from "preact";
import { Amount } from "../../components/amount.tsx";
import { countText } from "../../components/format.ts";
import { Time } from "../../components/time.tsx";
import { useNode, useResponse } from "../../data/node.ts";
import { useLastVisit } from "./last-visit.ts";

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
  const height = head.value?.height;
  const transactionCount = transactions.value?.meta.totalCount;
  const nethash = configuration.value?.nethash;
  const isComplete = nethash !== undefined && height !== undefined && transactionCount !== undefined;
  const seen = useLastVisit(
    isComplete && unikCount !== undefined
      ? { nethash, height, transactions: transactionCount, uniks: unikCount }
      : undefined,
  );
  return (
    <dl class="figures">
      <Figure name="Height" href="/console/blocks" seen={seen?.height} now={height}>
        {height !== undefined && countText(height)}
      </Figure>
      <Figure
        name="Transactions"
        href="/console/transactions"
        seen={seen?.transactions}
        now={transactionCount}
      >
        {transactionCount !== undefined && countText(transactionCount)}
      </Figure>
      <Figure name="Supply" href="/console/wallets" isWide>
        {blockchain.value && <Amount value={blockchain.value.data.supply} />}
      </Figure>
      <Figure name="Uniks" href="/console/uniks" seen={seen?.uniks} now={unikCount}>
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
      {seen && (
        <div class="wide">
          <dt>Growth</dt>
          <dd class="growth">
            since your last visit, <Time timeMs={seen.timeMs} clock="machine" />
          </dd>
        </div>
      )}
    </dl>
  );
}

type FigureProps = {
  readonly name: string;
  readonly href: string;
  readonly isWide?: boolean;
  /** The figure at the last visit, and now. */
  readonly seen?: number | undefined;
  readonly now?: number | undefined;
  readonly children: ComponentChildren;
};

function Figure({ name, href, isWide, seen, now = 0, children }: FigureProps) {
  return (
    <div class={isWide ? "wide" : ""}>
      <dt>{name}</dt>
      <dd>
        <a href={href}>{children || "–"}</a>
      </dd>
      {seen !== undefined && <dd class="growth">{now > seen ? `+${countText(now - seen)}` : "\u00a0"}</dd>}
    </div>
  );
}
