import type { Scene } from './layout';

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
  /** Search hits; null when nothing is filtered. */
  hits: Set<number> | null;
  /** States after this position are dimmed; null is now. */
  asOf: number | null;
  /** States that grow: how far their edge is drawn and their disc is set. */
  growth: Map<number, { edge: number; disc: number }>;
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
    hits: null,
    asOf: null,
    growth: new Map(),
  };
}

/** Strength of a state that is filtered out or later than the "as of" turn. */
export const FAINT = 0.15;

/** Whether a state is filtered out, or comes after the "as of" turn. */
export function isFaint(marks: Marks, scene: Scene, index: number): boolean {
  const { row, growing } = scene.states[index];
  if (marks.asOf !== null && row.position > marks.asOf) return true;
  return marks.hits !== null && !growing && !marks.hits.has(index);
}
