/** The pool and the newest blocks, which move to the right with each block. */
import type { Block } from "@uniknode/client";
import { useDelegateNames } from "../../components/delegate-name.tsx";
import { amountText, countOfText, countText, shortened } from "../../components/format.ts";
import { hrefOf } from "../../components/identifier.tsx";
import { Time } from "../../components/time.tsx";
import { useNode, useResponse } from "../../data/node.ts";

const SHOWN_BLOCKS = 14;
/** Slow interval, because public nodes limit an address to a hundred requests per minute. */
const POOL_INTERVAL_MS = 5_000;

export function BlockRow() {
  const { top } = useNode();
  const names = useDelegateNames();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reached by the keyboard
    <section class="block-row" aria-label="The pool and the newest blocks" tabIndex={0}>
      <Pool />
      <div class="block-cards" style={{ "--cards": SHOWN_BLOCKS }}>
        {top.value.slice(0, SHOWN_BLOCKS).map((block, place) => (
          <BlockCard
            key={block.id}
            block={block}
            place={place}
            name={names.get(block.generator.username ?? "")}
          />
        ))}
      </div>
    </section>
  );
}

function Pool() {
  const { api } = useNode();
  const { value } = useResponse("pool count", () => api.transactions.unconfirmed().page({ limit: 1 }), {
    everyMs: POOL_INTERVAL_MS,
  });
  const count = value?.meta.totalCount;
  return (
    <a class="block-card pool" href="/console/transactions?state=pending">
      <span class="block-height">Pool</span>
      <span>{count === undefined ? "" : countText(count)}</span>
      <span class="quiet">pending</span>
    </a>
  );
}

type BlockCardProps = {
  readonly block: Block;
  /** Index from the left. The card moves with a transform, so that the layout does not shift. */
  readonly place: number;
  readonly name: string | undefined;
};

function BlockCard({ block, place, name }: BlockCardProps) {
  const { configuration } = useNode();
  const { height, transactions, forged, generator, timestamp } = block;
  const most = configuration.value?.constants.block.maxTransactions ?? 1;
  return (
    <a class="block-card" href={hrefOf.block(block.id)} style={{ "--place": place }}>
      <span class="block-height">{countText(height)}</span>
      <span>
        {transactions === 0 ? <span class="quiet">empty</span> : countOfText(transactions, "transactions")}
      </span>
      <span class="quiet">
        {forged.amount === "0"
          ? "\u00a0"
          : `${amountText(forged.amount)} ${configuration.value?.symbol ?? ""}`}
      </span>
      <meter
        class="unseen"
        min={0}
        max={most}
        value={transactions}
        aria-label="Transactions, out of the maximum of a block"
      />
      <span class="block-fill" style={{ "--fill": `${Math.min(transactions / most, 1) * 100}%` }} />
      <span class="block-forger">{name ?? shortened(generator.username ?? generator.address)}</span>
      <span class="quiet">
        <Time timeMs={timestamp.unix * 1_000} />
      </span>
    </a>
  );
}
