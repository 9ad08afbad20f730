/** Types of the runners, which turn vector files into cases. */

/** One case: `run` throws when the case fails. */
export type VectorCase = { readonly name: string; readonly run: () => void | Promise<void> };

/** Cases of a file; the content is the parsed JSON of a vector file, which is trusted. */
// biome-ignore lint/suspicious/noExplicitAny: vector files have one shape each, described in their README
export type Runner = (content: any) => Iterable<VectorCase>;

/** Runners by `kind` of the file where it has one, by file name without extension otherwise. */
export type Runners = Readonly<Record<string, Runner>>;

/** A runner of a file whose cases are independent: `check` throws when a case fails. */
export const eachCase =
  // biome-ignore lint/suspicious/noExplicitAny: see Runner
    (check: (testCase: any, content: any) => void | Promise<void>): Runner =>
    (content) =>
      content.cases.map((testCase: { name?: string; id?: string }, index: number) => ({
        name: testCase.name ?? testCase.id ?? `case ${index}`,
        run: () => check(testCase, content),
      }));
