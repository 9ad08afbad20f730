/** Paths of tiles below `tile/` (C2SP tlog-tiles): `0/x001/x234/067`, and `0/x001/x234/067.p/12` for a partial tile. */
import { TILE_WIDTH } from "./merkle/tiles.ts";

export type TilePath = {
  /** Level of the tile; `entries` for the leaves themselves. */
  readonly level: number | "entries";
  readonly number: number;
  /** Number of hashes or leaves, from 1 to 256. */
  readonly width: number;
};

/** Upper bound on the levels of a tree. */
const MAX_LEVEL = 6;
const PATH = /^(\d|entries)\/((?:x\d{3}\/)*\d{3})(?:\.p\/([1-9]\d{0,2}))?$/;
const MAX_PATH_LENGTH = 60;

/** Parses a path; undefined if it is not the path of a tile. */
export function readTilePath(path: string): TilePath | undefined {
  const match = path.length <= MAX_PATH_LENGTH ? PATH.exec(path) : null;
  if (!match) return undefined;
  const [, levelText, digits, widthText] = match as unknown as [string, string, string, string?];
  const level = levelText === "entries" ? levelText : Number(levelText);
  const number = Number(digits.replaceAll(/[x/]/g, ""));
  const width = widthText === undefined ? TILE_WIDTH : Number(widthText);
  // A whole tile has only one path.
  const isPart = width < TILE_WIDTH || widthText === undefined;
  if (!isPart || !Number.isSafeInteger(number * TILE_WIDTH) || tilePath(level, number, width) !== path)
    return undefined;
  return level === "entries" || level <= MAX_LEVEL ? { level, number, width } : undefined;
}

export function tilePath(level: number | "entries", number: number, width = TILE_WIDTH): string {
  const groups: readonly string[] =
    String(number)
      .padStart(Math.ceil(String(number).length / 3) * 3, "0")
      .match(/\d{3}/g) ?? [];
  const digits = groups.map((group, index) => (index < groups.length - 1 ? `x${group}` : group)).join("/");
  return `${level}/${digits}${width < TILE_WIDTH ? `.p/${width}` : ""}`;
}
