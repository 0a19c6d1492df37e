import type { StateRow } from './types';

/** A run of plain states drawn as one capsule. Its key is the id of its first state. */
export interface Fold {
  key: number;
  ids: number[];
}

/** What folding has to know beside the rows. */
export interface FoldOptions {
  /** Keys of runs that the user opened. */
  opened: ReadonlySet<number>;
  /** States that must stay in sight: chosen, candidates, hits, the growing turn's parent. */
  keep: ReadonlySet<number>;
}

const RECENT = 30;
const SHORTEST = 3;

function isPlain(row: StateRow): boolean {
  return !(row.list || row.replaced || row.new_value || row.pending || row.unsure || row.second !== null || row.moved_from !== null);
}

/**
 * Runs of at least three plain states in line on one lane, older than the last thirty, none of them marked, forked,
 * a root or a tip. Folding hides rows; lanes are assigned before it and don't change.
 */
export function foldRuns(rows: readonly StateRow[], lanes: readonly number[], children: readonly number[][], { opened, keep }: FoldOptions): Fold[] {
  const linked = new Set<number>();
  for (const row of rows) if (row.second !== null) linked.add(row.second);
  const old = rows.length - RECENT;
  const foldable = (i: number): boolean => {
    const row = rows[i];
    return i < old && row.parent !== null && children[i].length === 1 && isPlain(row) && !keep.has(row.id) && !linked.has(row.id);
  };
  const folds: Fold[] = [];
  const done = new Uint8Array(rows.length);
  for (let i = 0; i < old; i++) {
    if (done[i] || !foldable(i)) continue;
    const run = [i];
    for (let next = children[i][0]; foldable(next) && lanes[next] === lanes[i]; next = children[next][0]) run.push(next);
    for (const j of run) done[j] = 1;
    const key = rows[i].id;
    if (run.length >= SHORTEST && !opened.has(key)) folds.push({ key, ids: run.map((j) => rows[j].id) });
  }
  return folds;
}
