/** Counting of bytes. */
import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { Traffic } from "../../../src/peers/transport/memory-bounds.ts";

const socket = (bytesRead: number, bytesWritten: number) =>
  Object.assign(new EventEmitter(), { bytesRead, bytesWritten });

test("Bytes are counted while a connection is open, and kept when it has ended.", () => {
  const traffic = new Traffic();
  const [one, other] = [socket(10, 1), socket(20, 2)];
  traffic.watch(one);
  traffic.watch(other);
  expect(traffic.read()).toEqual({ receivedBytes: 30, sentBytes: 3 });
  one.bytesRead = 15;
  expect(traffic.read()).toEqual({ receivedBytes: 35, sentBytes: 3 });
  one.emit("close");
  other.emit("close");
  expect(traffic.read()).toEqual({ receivedBytes: 35, sentBytes: 3 });
});
