import type { Scene } from './layout';
import type { Localized } from './types';

/** A candidate's glow: its probability, and how far its fade has come (0–1). */
export interface Glow {
  probability: number;
  shown: number;
  /** 0: all glow alike; 1: each by its probability. */
  sunk: number;
}

/** What is special about states right now, by index; the painter reads it, the view writes it. */
export interface Marks {
  active: number;
  selected: number;
  focused: number;
  /** The localized path from the root down, or null. */
  path: number[] | null;
  onPath: Set<number>;
  /** How far the light has come down the path: of its halo, and of its line. */
  halo: number;
  line: number;
  glows: Map<number, Glow>;
  /** The second parent considered for the answer under way. */
  second: number;
  /** Search hits; null when nothing is filtered. */
  hits: Set<number> | null;
  /** States after this position are dimmed; null is now. */
  asOf: number | null;
  /** States that grow: how far their edge is drawn and their disc is set. */
  growth: Map<number, { edge: number; disc: number }>;
  /** The state a place is looked for, or −1. */
  lifted: number;
  /** Where it may go; null when nothing is looked for. */
  targets: Set<number> | null;
  /** The place that is pointed at now, or −1. */
  aim: number;
  /** Where the hand is that carries it, in CSS px. */
  hand: { x: number; y: number } | null;
}

/** No marks at all. */
export function noMarks(): Marks {
  return {
    active: -1,
    selected: -1,
    focused: -1,
    path: null,
    onPath: new Set(),
    halo: 1,
    line: 1,
    glows: new Map(),
    second: -1,
    hits: null,
    asOf: null,
    growth: new Map(),
    lifted: -1,
    targets: null,
    aim: -1,
    hand: null,
  };
}

/** Strength of a state that is filtered out or later than the "as of" turn. */
export const FAINT = 0.15;

/** Whether a state is filtered out, comes after the "as of" turn, or can't be the place that is looked for. */
export function isFaint(marks: Marks, scene: Scene, index: number): boolean {
  const { row, growing } = scene.states[index];
  if (marks.targets !== null) return index !== marks.lifted && !marks.targets.has(index);
  if (marks.asOf !== null && row.position > marks.asOf) return true;
  return marks.hits !== null && !growing && !marks.hits.has(index);
}

/** What the page said is special, by id. */
export interface Wanted {
  active: number | null;
  selected: number | null;
  focused: number | null;
  localized: Localized | null;
  found: ReadonlySet<number> | null;
  asOf: number | null;
  /** A place is looked for: for which state, and where it may go. */
  picking: { state: number | null; targets: ReadonlySet<number> } | null;
  /** The place pointed at. */
  aim: number | null;
}

/** Candidates shown: at most five, each of at least one percent. */
const CANDIDATES = { most: 5, least: 0.01 } as const;

/** Turns ids into what the painter reads; motions under way go on from `before`. */
export function marksOf(scene: Scene, wanted: Wanted, before: Marks): Marks {
  const { byId } = scene;
  const indexOf = (id: number | null): number => (id === null ? -1 : (byId.get(id) ?? -1));
  const path = (wanted.localized?.path ?? []).map(indexOf).filter((i) => i >= 0);
  const glowing = [...before.glows.values()][0];
  const glows = new Map<number, Glow>();
  for (const { state, probability } of wanted.localized?.candidates ?? []) {
    const index = indexOf(state);
    if (index < 0 || probability < CANDIDATES.least || glows.size >= CANDIDATES.most) continue;
    glows.set(index, { probability, shown: glowing?.shown ?? 1, sunk: glowing?.sunk ?? 1 });
  }
  return {
    active: indexOf(wanted.active),
    selected: indexOf(wanted.selected),
    focused: indexOf(wanted.focused),
    path: path.length ? path : null,
    onPath: new Set(path),
    halo: before.halo,
    line: before.line,
    glows,
    second: indexOf(wanted.localized?.second ?? null),
    hits: wanted.found ? new Set([...wanted.found].map(indexOf)) : null,
    asOf: wanted.asOf,
    growth: new Map([...before.growth].filter(([index]) => index < scene.states.length)),
    lifted: indexOf(wanted.picking?.state ?? null),
    targets: wanted.picking ? new Set([...wanted.picking.targets].map(indexOf)) : null,
    aim: wanted.picking && wanted.aim !== null && wanted.picking.targets.has(wanted.aim) ? indexOf(wanted.aim) : -1,
    hand: wanted.picking ? before.hand : null,
  };
}
