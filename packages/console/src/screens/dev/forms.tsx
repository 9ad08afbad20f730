/** Forms of the commands, except the longest. */
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { durationText, shortened } from "../../components/format.ts";
import type { Verbs } from "./use-verbs.ts";
import { CountField, MAX_BLOCKS, VerbCard } from "./verb-card.tsx";

/** Maximum per request (docs/guides/dev-chain.md). */
const MAX_SECONDS = 1e10;

export function Mine({ verbs }: { verbs: Verbs }) {
  const [blocks, setBlocks] = useState(1);
  return (
    <VerbCard
      title="Mine"
      hint="Forges blocks immediately; the first one contains the pending transactions. The chain's clock moves forward if necessary."
      command={{ verb: "mine", body: { blocks } }}
      button="Mine"
      verbs={verbs}
    >
      <CountField id="mine-blocks" label="Blocks" value={blocks} max={MAX_BLOCKS} onChange={setBlocks} />
    </VerbCard>
  );
}

export function Forge({ verbs, isForging }: { verbs: Verbs; isForging: boolean | undefined }) {
  return (
    <VerbCard
      title="Forging"
      hint={
        isForging === false
          ? "Paused: blocks are forged only on request."
          : "The chain forges a block in every slot. While paused, it forges only on request."
      }
      command={{ verb: "forge", body: { enabled: isForging === false } }}
      button={isForging === false ? "Resume" : "Pause"}
      verbs={verbs}
      isDisabled={isForging === undefined}
    />
  );
}

const JOURNEYS = [60, 3_600, 86_400, 604_800];

export function Travel({ verbs }: { verbs: Verbs }) {
  const [seconds, setSeconds] = useState(3_600);
  return (
    <VerbCard
      title="Travel"
      hint="Moves the chain's clock forward. It cannot move back, even if the node restarts."
      command={{ verb: "travel", body: { seconds } }}
      button={`Travel ${durationText(seconds)}`}
      verbs={verbs}
    >
      <CountField
        id="travel-seconds"
        label="Seconds"
        value={seconds}
        max={MAX_SECONDS}
        onChange={setSeconds}
      />
      <div class="journeys">
        {JOURNEYS.map((journey) => (
          <button key={journey} type="button" onClick={() => setSeconds(journey)}>
            {durationText(journey)}
          </button>
        ))}
      </div>
    </VerbCard>
  );
}

/** Remembered ids, newest first, until the page is closed. The node stores nothing: an id is sufficient to restore. */
const remembered = signal<readonly { readonly id: string; readonly height: number }[]>([]);
const MAX_REMEMBERED = 20;

export function Snapshots({ verbs }: { verbs: Verbs }) {
  const [id, setId] = useState("");

  async function remember(): Promise<void> {
    const change = await verbs.run({ verb: "snapshot", body: {} });
    if (!change) return;
    const { head } = change;
    const others = remembered.value.filter(({ id }) => id !== head.id);
    remembered.value = [head, ...others].slice(0, MAX_REMEMBERED);
    setId(head.id);
  }

  return (
    <VerbCard
      title="Snapshot and return"
      hint="Reverts all blocks above the chosen one and drops pending transactions. The last 10,000 blocks can be restored."
      command={{ verb: "restore", body: { id } }}
      button="Return"
      verbs={verbs}
    >
      <div>
        <label for="restore-id">Block id</label>
        <input
          id="restore-id"
          list="remembered"
          required
          pattern="[0-9a-f]{64}"
          spellcheck={false}
          autocomplete="off"
          value={id}
          onInput={({ currentTarget }) => setId(currentTarget.value.trim())}
        />
        <datalist id="remembered">
          {remembered.value.map(({ id, height }) => (
            <option key={id} value={id}>{`height ${height}, ${shortened(id)}`}</option>
          ))}
        </datalist>
      </div>
      <button type="button" disabled={verbs.running !== undefined} onClick={remember}>
        Remember the head
      </button>
    </VerbCard>
  );
}
