/** Dialog with the keyboard shortcuts. */
import { Dialog } from "../components/dialog.tsx";

/** Pages by the key after `g`. */
export const PAGES: readonly (readonly [key: string, path: string, title: string])[] = [
  ["o", "", "Overview"],
  ["b", "blocks", "Blocks"],
  ["t", "transactions", "Transactions"],
  ["w", "wallets", "Wallets"],
  ["u", "uniks", "Uniks"],
  ["d", "delegates", "Delegates"],
  ["h", "webhooks", "Webhooks"],
  ["l", "live", "Live events"],
  ["n", "node", "Node"],
];
const KEYS: readonly (readonly [keys: readonly string[], meaning: string])[] = [
  [["/"], "Search"],
  [["Ctrl", "K"], "Search"],
  ...PAGES.map(([key, , title]) => [["g", key], title] as const),
  [["?"], "This list"],
];

export function Keys({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Dialog title="Keyboard" isOpen={isOpen} onClose={onClose}>
      <dl class="shortcuts">
        {KEYS.map(([keys, meaning]) => (
          <div key={keys.join(" ")}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
