/** Correcting where turns are and what is remembered: what the page knows while someone does it. Pure. */

import type { AppState, Loaded } from '../state';
import type { Change, Comparison, Item, Job, MovePreview, MoveRecord, Proposal, StateRow, Trouble } from '../types';

/** A state is being chosen in the drawing, by arrows or by search: as the new parent of `state`, or to be compared with where `turn` went. */
export type Picking = { purpose: 'move'; state: number } | { purpose: 'compare'; turn: number; state: number | null };

/** A move that is looked at before it is done. `parent` null: it begins a topic of its own. */
export interface Moving {
  state: number;
  parent: number | null;
  preview: Loaded<MovePreview>;
  doing: boolean;
  trouble: Trouble | null;
}

/** Later turns are placed again, for a look; nothing moves before someone says so. */
export interface Replaying {
  after: number;
  job: Job | null;
  /** When the job last got on, in ms. */
  movedAt: number;
  chosen: ReadonlySet<number>;
  doing: boolean;
  trouble: Trouble | null;
}

/** A value that is being put into other words. */
export interface Rewording {
  item: Item;
  text: string;
  doing: boolean;
  trouble: Trouble | null;
}

export interface Correcting {
  picking: Picking | null;
  moving: Moving | null;
  replaying: Replaying | null;
  rewording: Rewording | null;
  /** The place that a turn's own is compared with. */
  compared: { turn: number; state: number } | null;
  comparison: Loaded<Comparison>;
  moves: Loaded<MoveRecord[]>;
  changes: Loaded<{ list: Change[]; next: string | number | null }>;
}

/** A job that nobody was heard of for so long has lost its worker; another takes it up. */
const STALLED = 20_000;

/** Nothing was heard of the job for a while: who did it may be gone. */
export const isStalled = ({ job, movedAt }: Replaying, now: number): boolean => job !== null && (job.status === 'waiting' || job.status === 'running') && now - movedAt > STALLED;

/** Whether a job got on between two looks at it. */
export const gotOn = (before: Job | null, now: Job): boolean => before === null || before.status !== now.status || before.done !== now.done || before.message !== now.message;

export const noCorrecting = (): Correcting => ({
  picking: null, moving: null, replaying: null, rewording: null, compared: null,
  comparison: { status: 'none' }, moves: { status: 'none' }, changes: { status: 'none' },
});

type Rows = ReadonlyMap<number, StateRow>;

/** Where a state may go: under any earlier one. What is below it is later, so a circle can't come of it. */
export function targetsOf(rows: Rows, picking: Picking): Set<number> {
  const own = picking.state === null ? undefined : rows.get(picking.state);
  const limit = own?.position ?? Infinity;
  const apart = own?.parent ?? null;
  const targets = new Set<number>();
  for (const row of rows.values()) if (row.position < limit && row.id !== apart) targets.add(row.id);
  return targets;
}

/** A state and everything below it. */
export function branchOf(rows: Rows, state: number): Set<number> {
  const branch = new Set([state]);
  for (const row of [...rows.values()].sort((a, b) => a.position - b.position)) if (row.parent !== null && branch.has(row.parent)) branch.add(row.id);
  return branch;
}

/** What a replay proposes; empty until it is done. */
export const proposalsOf = (job: Job | null): Proposal[] => (job?.result as { proposals?: Proposal[] } | null)?.proposals ?? [];
export const lookedAt = (job: Job | null): number => (job?.result as { looked_at?: number } | null)?.looked_at ?? 0;

/** A proposal is ticked from the start when the forest is sure of it. */
export const tickedAtFirst = (proposals: Proposal[]): Set<number> => new Set(proposals.filter((one) => !one.unsure).map((one) => one.state));

/** The latest answered turn after a state: what “why not here?” is asked about. */
export const laterTurn = (state: AppState, row: StateRow): number | null => {
  const shown = state.inspectedTurn === null ? undefined : [...state.states.values()].find((one) => one.turn === state.inspectedTurn);
  if (shown && shown.position > row.position && shown.parent !== row.id) return shown.turn;
  const later = state.turns.findLast((turn) => turn.state !== null && (state.states.get(turn.state)?.position ?? 0) > row.position && state.states.get(turn.state)?.parent !== row.id);
  return later?.id ?? null;
};
