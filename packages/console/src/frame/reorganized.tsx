/** Notice that blocks were reverted. After dismissal, it appears again with the next reorganization. */
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { countText } from "../components/format.ts";
import { Icon } from "../components/icon.tsx";
import { absoluteText } from "../components/time.tsx";
import type { Reorganization } from "../data/chain.ts";

export function Reorganized({ change }: { change: Reorganization }) {
  const dismissed = useSignal<Reorganization>();
  const time = useMemo(() => absoluteText(Date.now()), [change]);
  if (dismissed.value === change) return null;
  const lowest = Math.min(...change.reverted.map(({ height }) => height));
  const { length } = change.reverted;
  return (
    <div class="warning">
      <Icon name="warning" />
      <span>
        {change.isDeep && "At least "}
        {length === 1 ? "1 block was" : `${countText(length)} blocks were`} reverted, from height{" "}
        {countText(lowest)} on ({time}). The page shows the chain as it is now.
      </span>
      <button
        type="button"
        onClick={() => {
          dismissed.value = change;
        }}
      >
        Close
      </button>
    </div>
  );
}
