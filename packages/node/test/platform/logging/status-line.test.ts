import { expect, test } from "vitest";
import { StatusLine } from "../../../src/platform/logging/output.ts";
import { shownLines } from "../../../test-support/process/terminal.ts";

function open(columns: number | undefined) {
  let [written, width] = ["", columns];
  let resized = () => {};
  const lines = {
    write(text: string) {
      written += text;
    },
  };
  const window = {
    get columns() {
      return width;
    },
    on(_: "resize", listener: () => void) {
      resized = listener;
    },
  };
  return Object.assign(new StatusLine(lines, window), {
    resize(to: number) {
      width = to;
      resized();
    },
    written: () => written,
    shown: () => shownLines(written),
  });
}

test("A status replaces the former one, and permanent lines stay above it.", () => {
  const screen = open(80);
  screen.print("the screen");
  screen.status("block 1, with a long text");
  screen.status("block 2");
  expect(screen.shown()).toEqual(["the screen", "block 2"]);
  screen.print("something\nhappened");
  expect(screen.shown()).toEqual(["the screen", "something", "happened", "block 2"]);
  screen.end();
  screen.print("Stopped.");
  screen.status("block 3");
  expect(screen.shown()).toEqual(["the screen", "something", "happened", "Stopped.", "block 3", ""]);
});

test("A status is cut to the window, and drawn again after a resize.", () => {
  const screen = open(8);
  screen.status("0123456789");
  expect(screen.shown()).toEqual(["0123456"]);
  screen.resize(5);
  expect(screen.shown()).toEqual(["0123"]);
  screen.resize(1);
  expect(screen.shown()).toEqual([""]);
  screen.resize(0);
  expect(screen.shown()).toEqual(["0123456789"]);
});

test("Without a terminal, every line stays and only text is written.", () => {
  let written = "";
  const write = (text: string) => {
    written += text;
  };
  const screen = new StatusLine({ write }, undefined);
  screen.print("the screen");
  screen.status("block 1");
  screen.status("block 2");
  screen.end();
  expect(written).toBe("the screen\nblock 1\nblock 2\n");
});
