/** Ports of a bridgechain by package name in the order of transactions.md 11 (transactions.md 6.4). */
import type { ByteReader, ByteWriter } from "../../../bytes/cursor.ts";
import { addProperty } from "../properties.ts";
import { readText, writeText } from "./texts.ts";

export function writePorts(ports: Record<string, number>, writer: ByteWriter): void {
  const entries = Object.entries(ports);
  writer.u8(entries.length);
  for (const [name, port] of entries) {
    writeText(name, writer);
    writer.u16(port);
  }
}

export function readPorts(reader: ByteReader): Record<string, number> {
  const ports: Record<string, number> = {};
  const count = reader.u8();
  for (let i = 0; i < count; i++) {
    const name = readText(reader);
    addProperty(ports, name, reader.u16());
  }
  return ports;
}
