/** A state as the drawing knows it: a row of `forests/{id}/states/`, labels only. */
export interface StateRow {
  id: number;
  turn: number | null;
  position: number;
  parent: number | null;
  root: number;
  depth: number;
  /** ISO 8601, UTC. */
  time: string;
  label: string;
  facts: number;
  /** Items of an artifact list it made; 0 is none. */
  list: number;
  /** Gave a fact that has since been replaced. */
  replaced: boolean;
  /** Gave the value that replaced an older one. */
  new_value: boolean;
  /** Its memory isn't refined yet. */
  pending: boolean;
  /** Was placed with low confidence. */
  unsure: boolean;
  /** The parent it had before the user moved it, if the user moved it. */
  moved_from: number | null;
  /** A second parent, less likely. */
  second: number | null;
  entities: string[];
}

/** A tree of the forest: its colour and leaf follow from `order`, counted in order of planting from 0. */
export interface TreeRow {
  root: number;
  order: number;
  topic: string;
  variants: string[];
}

/** A place that was considered for a turn under way; `state` null stands for a new topic. */
export interface Candidate {
  state: number | null;
  root: number | null;
  probability: number;
  label: string;
}

/** Where a turn was placed: the path from the root to the chosen parent, and what else was considered. */
export interface Localized {
  path: number[];
  candidates: Candidate[];
  second: number | null;
}

/** The answer under way: grows below `parent`, or plants a new tree when that is null. */
export interface Growing {
  parent: number | null;
  label: string;
}

/** Where the eye is: the unit height of a row, and the row units and lane pixels scrolled away. */
export interface Camera {
  /** Height of one row unit in CSS px; this is the zoom. */
  unit: number;
  /** Row units above the upper edge. */
  top: number;
  /** CSS px of the lane area panned away to the left. */
  left: number;
}

/** The two drawings of the same forest. */
export type Drawing = 'lanes' | 'tree';
