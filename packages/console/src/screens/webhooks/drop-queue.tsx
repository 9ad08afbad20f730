/** Checkbox to cancel pending deliveries, with their number. */
import { countOfText } from "../../components/format.ts";

export type DropQueueProps = {
  readonly count: number;
  readonly isChosen: boolean;
  readonly onChange: (isChosen: boolean) => void;
};

export const DropQueue = ({ count, isChosen, onChange }: DropQueueProps) => (
  <label class="choice">
    <input
      type="checkbox"
      checked={isChosen}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
    <span>Drop {countOfText(count, "deliveries")} in the queue</span>
  </label>
);
