/** The list of the keys that work on every page. */
import { Dialog } from "../components/dialog.tsx";

const KEYS: readonly (readonly [keys: readonly string[], meaning: string])[] = [
  [["/"], "Search"],
  [["Ctrl", "K"], "Search"],
  [["g", "o"], "Overview"],
  [["g", "b"], "Blocks"],
  [["g", "t"], "Transactions"],
  [["g", "w"], "Wallets"],
  [["g", "u"], "Uniks"],
  [["g", "d"], "Delegates"],
  [["g", "h"], "Webhooks"],
  [["g", "l"], "Live events"],
  [["g", "n"], "Node"],
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
