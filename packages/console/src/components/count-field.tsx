/** Form field for an integer. */
export type CountFieldProps = {
  readonly id: string;
  readonly label: string;
  readonly value: number;
  /** Minimum; default 1. */
  readonly min?: number;
  readonly max: number;
  readonly onChange: (value: number) => void;
};

/** Reports valid input only. */
export const CountField = ({ id, label, value, min = 1, max, onChange }: CountFieldProps) => (
  <div>
    <label for={id}>{label}</label>
    <input
      id={id}
      type="number"
      min={min}
      max={max}
      required
      value={value}
      onInput={({ currentTarget }) => {
        if (currentTarget.validity.valid) onChange(currentTarget.valueAsNumber);
      }}
    />
  </div>
);
