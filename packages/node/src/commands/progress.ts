/** Shows the progress of long operations. */

/** Reports the current step, and for long steps the completed fraction from 0 to 1. */
export type Progress = (step: string, part?: number) => void;

/** Writes progress to standard error: one updated line on a terminal, otherwise one line per 10 %. */
export function createProgress(out: NodeJS.WriteStream = process.stderr): Progress {
  let last = "";
  return (step, part) => {
    const percent = part === undefined ? undefined : Math.floor(part * 100);
    const shown = percent === undefined || out.isTTY ? percent : percent - (percent % 10);
    const line = shown === undefined ? `${step} ...` : `${step} ... ${shown} %`;
    if (line === last) return;
    const isSameStep = last.startsWith(`${step} ...`);
    const ending = out.isTTY ? (percent === 100 || percent === undefined ? "\n" : "") : "\n";
    out.write(`${out.isTTY && isSameStep ? "\r" : ""}${line}${ending}`);
    last = line;
  };
}
