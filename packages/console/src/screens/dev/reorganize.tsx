/** Form of a reorganization: depth, length, and omitted transactions. */
import type { Transaction } from "@uniknode/client";
import { useState } from "preact/hooks";
import { CountField } from "../../components/count-field.tsx";
import { countOfText, shortened } from "../../components/format.ts";
import { setMember } from "../../components/set-member.ts";
import { titleOf } from "../../components/transactions/kinds.ts";
import { useNode, useResponse } from "../../data/node.ts";
import { CommandCard, MAX_BLOCKS } from "./command-card.tsx";
import type { Commands } from "./use-commands.ts";

/** Maximum per list of confirmed and pending transactions. */
const MAX_SHOWN = 50;

export function Reorganize({ commands }: { commands: Commands }) {
  const [depth, setDepth] = useState(3);
  const [more, setMore] = useState(1);
  const [transactions, setTransactions] = useState(false);
  const [omitted, setOmitted] = useState<ReadonlySet<string>>(new Set());
  const candidates = useCandidates(depth, transactions);
  // The chosen depth may no longer be possible.
  const without = candidates.map(({ id }) => id).filter((id) => omitted.has(id));
  return (
    <CommandCard
      title="Reorganize"
      hint="Replaces the top blocks with a longer branch. Receivers get the reverted blocks first, then the branch."
      command={{
        name: "reorg",
        body: {
          depth,
          blocks: Math.min(depth + more, MAX_BLOCKS),
          transactions,
          ...(without.length > 0 && { without }),
        },
      }}
      button={`Replace ${countOfText(depth, "blocks")}`}
      commands={commands}
    >
      <CountField
        id="reorg-depth"
        label="Blocks to revert"
        value={depth}
        max={MAX_BLOCKS - 1}
        onChange={setDepth}
      />
      <CountField
        id="reorg-more"
        label="The branch is longer by"
        value={more}
        max={MAX_BLOCKS - 1}
        onChange={setMore}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={transactions}
          onChange={({ currentTarget }) => setTransactions(currentTarget.checked)}
        />
        The branch includes their transactions and the pending ones
      </label>
      {transactions && <Omitted candidates={candidates} omitted={omitted} onChange={setOmitted} />}
    </CommandCard>
  );
}

type OmittedProps = {
  readonly candidates: readonly Transaction[];
  readonly omitted: ReadonlySet<string>;
  readonly onChange: (omitted: ReadonlySet<string>) => void;
};

const Omitted = ({ candidates, omitted, onChange }: OmittedProps) => (
  <fieldset class="left-out">
    <legend>Leave out</legend>
    {candidates.length === 0 && <p class="quiet">There are no transactions to omit.</p>}
    {candidates.map((transaction) => (
      <label key={transaction.id} class="check">
        <input
          type="checkbox"
          checked={omitted.has(transaction.id)}
          onChange={({ currentTarget }) =>
            onChange(setMember(omitted, transaction.id, currentTarget.checked))
          }
        />
        {titleOf(transaction)} <code>{shortened(transaction.id)}</code>
      </label>
    ))}
  </fieldset>
);

/** Returns the newest transactions of the reverted blocks, and pending transactions. */
function useCandidates(depth: number, isAsked: boolean): readonly Transaction[] {
  const { api, top } = useNode();
  const confirmed = useResponse(isAsked ? "transactions newest to leave out" : undefined, () =>
    api.transactions.list().page({ limit: MAX_SHOWN }),
  );
  const pending = useResponse(isAsked ? "transactions pending to leave out" : undefined, () =>
    api.transactions.unconfirmed().page({ limit: MAX_SHOWN }),
  );
  const reverted = new Set(top.value.slice(0, depth).map(({ id }) => id));
  return [
    ...(pending.value?.data ?? []),
    ...(confirmed.value?.data ?? []).filter(({ blockId }) => blockId !== undefined && reverted.has(blockId)),
  ];
}
