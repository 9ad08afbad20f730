/** Parses metrics in the Prometheus text format. */

export type Sample = {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
};

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** Parses the samples and skips all other lines. */
export function samplesOf(text: string): Sample[] {
  return text.split("\n").flatMap((line) => {
    const [, name, labels = "", value] = LINE.exec(line) ?? [];
    if (name === undefined || value === undefined) return [];
    const pairs = [...labels.matchAll(LABEL)].map(([, name = "", value = ""]) => [name, unescaped(value)]);
    return [{ name, labels: Object.fromEntries(pairs), value: numberOf(value) }];
  });
}

const unescaped = (text: string): string => text.replace(/\\(.)/g, (_, char) => (char === "n" ? "\n" : char));

const numberOf = (text: string): number =>
  ({ "+Inf": Number.POSITIVE_INFINITY, "-Inf": Number.NEGATIVE_INFINITY })[text] ?? Number(text);

export type Figures = {
  /** Returns undefined if the metric is absent or unknown. */
  one(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
  /** Returns values by label, largest first, without zeros. */
  by(name: string, label: string): readonly (readonly [string, number])[];
};

export function figuresOf(text: string): Figures {
  const samples = samplesOf(text);
  return {
    one(name, labels = {}) {
      const found = samples.find(
        (sample) =>
          sample.name === name &&
          Object.entries(labels).every(([name, value]) => sample.labels[name] === value),
      );
      return found && !Number.isNaN(found.value) ? found.value : undefined;
    },
    by: (name, label) =>
      samples
        .filter((sample) => sample.name === name && sample.value > 0)
        .flatMap(({ labels: { [label]: text }, value }) =>
          text === undefined ? [] : [[text, value] as const],
        )
        .sort(([, a], [, b]) => b - a),
  };
}
