import { dayOf } from './days';
import { ascending } from './numbers';
import { colourOf, leafOf } from './leaves';
import { assignBands, assignLanes, type BandPlace } from './lanes';
import { foldRuns, type Fold } from './folding';
import { countDescendants, tidyTrees } from './hierarchy';
import type { Drawing, Growing, StateRow, TreeRow } from './types';

/** Heights of rows in units. */
export const ROW = { turn: 1, fold: 1.5, station: 1.9, growing: 1.9 } as const;

/** The id the drawing gives to the answer under way, which has no state yet. */
export const GROWING = -1;

/** A state with its place: everything the painter needs that doesn't depend on the camera. */
export interface Placed {
  row: StateRow;
  index: number;
  /** Index of the parent, −1 for a root. */
  parent: number;
  children: number[];
  descendants: number;
  lane: number;
  /** Middle of its row, in units from the top. A folded state has its capsule's. */
  y: number;
  /** Lane colour and leaf of its tree, 0–11. */
  colour: number;
  leaf: number;
  topic: string;
  /** The capsule that hides it, or null. */
  fold: Fold | null;
  stem: BandPlace;
  /** Place in the tree drawing, in units. */
  tree: { x: number; y: number };
  /** The answer under way. */
  growing: boolean;
}

/** One line across the drawing where a day (or month) begins. */
export interface DayLine {
  y: number;
  /** First row's middle, where the name stands. */
  nameY: number;
  time: number;
}

/** A row of the drawing. */
export interface Row {
  y: number;
  size: number;
  /** Index of the state; for a capsule that of the first state it hides. */
  index: number;
  fold: Fold | null;
}

/** A whole forest, laid out in row units and lanes. */
export interface Scene {
  states: Placed[];
  byId: Map<number, number>;
  rows: Row[];
  folds: Fold[];
  days: DayLine[];
  /** Row units from the top to the bottom. */
  height: number;
  lanes: number;
  bands: number;
  /** Extent of the tree drawing in units. */
  tree: { width: number; height: number };
  /** Indexes of roots, in order of planting. */
  roots: number[];
  /** Days are those of this zone. */
  zone: string;
}

/** What decides the layout beside the rows. */
export interface LayoutOptions {
  opened?: ReadonlySet<number>;
  keep?: ReadonlySet<number>;
  growing?: Growing | null;
  fold?: boolean;
  /** The zone whose days are drawn. */
  zone?: string;
  /** Only the tree drawing needs the tidy trees. */
  drawing?: Drawing;
}

const NOTHING: ReadonlySet<number> = new Set();

/** Lays out a forest: lanes, rows, folds, days, stems and tidy trees. Pure; rows may come in any order. */
export function layoutForest(given: readonly StateRow[], trees: readonly TreeRow[], options: LayoutOptions = {}): Scene {
  const { opened = NOTHING, keep = NOTHING, growing = null, zone = 'UTC', fold = true, drawing = 'lanes' } = options;
  const rows = [...given].sort((a, b) => ascending(a.position, b.position));
  if (growing) rows.push(growingRow(growing, rows));
  const byId = new Map(rows.map((row, index) => [row.id, index]));
  const parents = rows.map((row) => (row.parent === null ? -1 : (byId.get(row.parent) ?? -1)));
  const roots = findRoots(parents);
  const children: number[][] = rows.map(() => []);
  parents.forEach((parent, index) => {
    if (parent >= 0) children[parent].push(index);
  });

  const lanes = assignLanes(rows);
  const stems = assignBands(rows);
  const descendants = countDescendants(parents);
  const tidy = drawing === 'tree' ? tidyTrees(parents) : null;
  const kept = growing?.parent != null ? new Set([...keep, growing.parent]) : keep;
  const folds = fold ? foldRuns(rows, lanes, children, { opened, keep: kept }) : [];
  const foldOf = new Map<number, Fold>();
  for (const f of folds) for (const id of f.ids) foldOf.set(id, f);

  const treeOf = new Map(trees.map((tree) => [tree.root, tree]));
  const states = rows.map((row, index): Placed => {
    // By way of the parents rather than the row's own word: what follows a moved state moved with it.
    const root = rows[roots[index]];
    const tree = treeOf.get(root.parent === null ? root.id : root.root);
    const order = tree?.order ?? trees.length;
    return {
      row,
      index,
      parent: parents[index],
      children: children[index],
      descendants: descendants[index],
      lane: lanes[index],
      y: 0,
      colour: colourOf(order),
      leaf: leafOf(order),
      topic: tree?.topic ?? '',
      fold: foldOf.get(row.id) ?? null,
      stem: stems[index],
      tree: tidy?.places[index] ?? { x: 0, y: 0 },
      growing: row.id === GROWING,
    };
  });
  const { drawn, days, height } = placeRows(states, zone);
  return {
    states,
    byId,
    rows: drawn,
    folds,
    days,
    height,
    lanes: 1 + Math.max(0, ...sliceMax(lanes)),
    bands: 1 + Math.max(0, ...sliceMax(stems.map((s) => s.band))),
    tree: { width: tidy?.width ?? 0, height: tidy?.height ?? 0 },
    roots: states.filter((s) => s.parent < 0).map((s) => s.index),
    zone,
  };
}

/**
 * The root of every state. A circle, which only a half-told move could make, is opened where it is first met, so that
 * whoever walks up the parents arrives.
 */
function findRoots(parents: number[]): number[] {
  const roots = new Array<number>(parents.length).fill(-1);
  const met = new Int32Array(parents.length);
  for (let start = 0; start < parents.length; start++) {
    const way: number[] = [];
    let at = start;
    while (roots[at] < 0 && parents[at] >= 0 && met[at] !== start + 1) {
      met[at] = start + 1;
      way.push(at);
      at = parents[at];
    }
    if (roots[at] < 0) {
      parents[at] = -1;
      roots[at] = at;
    }
    for (const index of way) roots[index] = roots[at];
  }
  return roots;
}

/** The largest of many numbers, as a list of one or none: spreading 10,000 arguments is unkind to the stack. */
function sliceMax(values: readonly number[]): number[] {
  return values.length ? [values.reduce((a, b) => Math.max(a, b))] : [];
}

/** The answer under way as if it were the next state, so it stands where its state will. */
function growingRow({ parent, label }: Growing, rows: readonly StateRow[]): StateRow {
  const above = parent === null ? undefined : rows.find((row) => row.id === parent);
  const last = rows.at(-1);
  return {
    id: GROWING,
    turn: null,
    position: (last?.position ?? 0) + 1,
    parent: above ? above.id : null,
    root: above ? above.root : GROWING,
    depth: above ? above.depth + 1 : 0,
    time: '',
    label,
    facts: 0,
    list: 0,
    replaced: false,
    new_value: false,
    pending: false,
    unsure: false,
    moved_from: null,
    second: null,
    entities: [],
  };
}

/** Gives every state the middle of its row, top to bottom in order of position. */
function placeRows(states: Placed[], zone: string): { drawn: Row[]; days: DayLine[]; height: number } {
  const drawn: Row[] = [];
  const days: DayLine[] = [];
  const capsules = new Map<Fold, number>();
  let top = 0;
  let day = '';
  let before = NaN;
  for (const state of states) {
    if (state.fold && capsules.has(state.fold)) {
      state.y = capsules.get(state.fold) as number;
      continue;
    }
    const time = state.growing ? before : Date.parse(state.row.time);
    const size = state.fold ? ROW.fold : state.growing ? ROW.growing : state.parent < 0 ? ROW.station : ROW.turn;
    state.y = top + size / 2;
    const name = dayOf(time, zone) || day;
    if (name !== day) {
      days.push({ y: top, nameY: state.y, time });
      day = name;
    }
    if (state.fold) capsules.set(state.fold, state.y);
    drawn.push({ y: state.y, size, index: state.index, fold: state.fold });
    top += size;
    before = time;
  }
  return { drawn, days, height: top };
}

/** The first row whose lower edge is below `y`: where a window onto the rows begins. */
export function rowAt(rows: readonly Row[], y: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle].y + rows[middle].size / 2 <= y) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The states from the root down to a state, as indexes. */
export function pathTo(scene: Scene, index: number): number[] {
  const path: number[] = [];
  for (let i = index; i >= 0; i = scene.states[i].parent) path.push(i);
  return path.reverse();
}
