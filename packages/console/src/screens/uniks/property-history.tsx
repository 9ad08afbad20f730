/** History of a unik as a timeline: its transactions, with each property before and after. */
import type { Transaction } from "@uniknode/client";
import { Address, TransactionId } from "../../components/identifier.tsx";
import { Section } from "../../components/page.tsx";
import { PagedList } from "../../components/paged-list.tsx";
import { Empty } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { titleOf } from "../../components/transactions/kinds.ts";
import { useNode } from "../../data/node.ts";

export function PropertyHistory({ id }: { id: string }) {
  const { api } = useNode();
  return (
    <Section title="History">
      <PagedList
        name={`unik ${id} history`}
        list={() => api.transactions.search({ asset: { nft: { unik: { tokenId: id } } } })}
        what="transactions"
        title="The history"
      >
        {(transactions) =>
          transactions.length === 0 ? (
            <Empty title="No transactions" />
          ) : (
            <Timeline transactions={transactions} />
          )
        }
      </PagedList>
    </Section>
  );
}

function Timeline({ transactions }: { transactions: readonly Transaction[] }) {
  const changes = changesOf(transactions.map(({ asset }) => asset));
  return (
    <ol class="timeline">
      {transactions.map((transaction, index) => (
        <li key={transaction.id} class={transaction.blockId && "good"}>
          <p>
            <b>{titleOf(transaction)}</b>{" "}
            {transaction.timestamp && <Time timeMs={transaction.timestamp.unix * 1_000} isWhole />}{" "}
            <TransactionId id={transaction.id} />
          </p>
          {transaction.recipient !== transaction.sender && (
            <p>
              From <Address address={transaction.sender} /> to <Address address={transaction.recipient} />
            </p>
          )}
          <ul class="changes">
            {changes[index]?.map(({ key, before, after }) => (
              <li key={key}>
                <code>{key}</code> {before !== undefined && <del class="text">{before}</del>}{" "}
                {after === undefined ? (
                  <span class="bad-text">removed</span>
                ) : (
                  <ins class="text">{after}</ins>
                )}
              </li>
            ))}
          </ul>
        </li>
      ))}
    </ol>
  );
}

type Change = {
  readonly key: string;
  /** Value in an earlier transaction of the list, if any. */
  readonly before: string | undefined;
  /** Absent if the property was removed. */
  readonly after: string | undefined;
};

/** Reads the properties that each asset of transactions sets or, by `null`, removes. */
export function changesOf(newestFirst: readonly unknown[]): readonly (readonly Change[])[] {
  const values = new Map<string, string | undefined>();
  const changes = newestFirst.toReversed().map((asset) => {
    const { nft } = Object(asset) as { nft?: { unik?: { properties?: unknown } } };
    const properties = Object(Object(Object(nft).unik).properties) as Record<string, unknown>;
    return Object.entries(properties).map(([key, value]) => {
      const before = values.get(key);
      const after = value === null ? undefined : typeof value === "string" ? value : JSON.stringify(value);
      values.set(key, after);
      return { key, before, after };
    });
  });
  return changes.reverse();
}
