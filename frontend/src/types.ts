/** The shapes of docs/interfaces.md by their names. What REST answers with is generated from docs/openapi.yml
 *  (`npm run api-types`); what the socket says is written here. Times are ISO 8601 in UTC. */

import type { Candidate } from './forest/types';
import type { components } from './schema';

type Schemas = components['schemas'];

export type { Candidate };
export interface ApiErrorBody {
  code: string;
  message: string;
  action: string;
  fields?: Record<string, string[]>;
}
export type Trouble = Schemas['Trouble'];
export type Me = Schemas['Me'];
export type Forest = Schemas['Forest'];
export type Job = Schemas['Job'];
export type Method = Schemas['MethodEnum'];
export type Decision = Schemas['Decision'];
export type Chip = Schemas['Chip'];
export type Turn = Schemas['Turn'];
export type EditedFrom = Schemas['EditedFrom'];
export type TurnStatus = Schemas['TurnStatus'];
export type StateRow = Schemas['StateRow'];
export type TreeRow = Schemas['TreeRow'];
export type StatesPage = Schemas['StatePage'];
export type StateDetail = Schemas['StateDetail'];
export type Revision = Schemas['Revision'];
/** A fact, or a record (artifact, event, mutable state), which has the same keys and its typed `fields`. */
export type Item = Schemas['Item'];
export type Trace = Schemas['Trace'];
export type TraceDecision = Schemas['TraceDecision'];
export type TraceCandidate = Schemas['TraceCandidate'];
export type Context = Schemas['Context'];
export type ContextItem = Schemas['ContextItem'];
export type SearchHit = Schemas['SearchHit'];
export type Models = Schemas['Models'];
export type ModelRole = Schemas['Role'];
export type ModelsTested = Schemas['ModelsTested'];
export type ModelTest = Schemas['Tested'];
export type ModelCheck = Schemas['CheckDone'];

/** One item that was asked to be forgotten, or that a question about forgetting matched. */
export interface Match {
  kind: Item['kind'] | 'state';
  id: number;
  text: string;
  state: number;
  score: number;
}

/** What was asked to be forgotten, and what fits it. */
export interface ForgetAsked {
  what: string;
  matches: Match[];
}

/** “Why not that one?”: a state scored again as the forest stood just before a turn, beside where the turn went. */
export type Comparison = Schemas['Weighed'];
export type MoveRecord = Schemas['MoveMade'];
export type Change = Schemas['Change'];
export type Use = Schemas['Use'];

/** What a move does. */
export interface MovePreview {
  counts: { states: number; used_by: number };
  used_by: Use[];
  /** Trees that are told anew. */
  trees: TreeRow[];
  /** Facts and records that are read anew. */
  evidence: number;
  /** Later turns that might be placed elsewhere now. */
  later: number;
}

/** A later turn that would be placed elsewhere now. */
export interface Proposal {
  state: number;
  label: string;
  from: number | null;
  to: number | null;
  from_label: string;
  to_label: string;
  probability: number;
  unsure: boolean;
}

/** What a deletion takes along, and what it leaves. */
export interface Forgotten {
  preview: boolean;
  counts: Record<string, number>;
  rebuilt: { summaries: number; topics: number };
  stays: { kind: string; id: number; text: string; because: string }[];
  /** What becomes current again. */
  restored: { kind: string; id: number; text: string }[];
  used_by: Use[];
  /** `state` is null for a broken turn whose part quotes it. */
  quoted_by: (Omit<Use, 'state'> & { state: number | null; quote: string })[];
}

/** The forest's health over time, at most 90 days. */
export type Series = Schemas['Health'];

export interface Page<T> {
  results: T[];
  next: string | number | null;
}

/* Socket, server to page. Every message of a turn carries `turn` and `seq`. */

interface OfTurn {
  turn: number;
  seq?: number;
}

export type ServerMessage =
  | (OfTurn & { type: 'turn.queued'; client_id: string; ahead: number })
  | (OfTurn & { type: 'turn.accepted'; client_id: string; text: string })
  | (OfTurn & { type: 'turn.localized'; decision: Decision; path: number[]; candidates: Candidate[]; second: number | null })
  | (OfTurn & { type: 'turn.assembled'; tokens: number; blocks: { name: string; label: string; tokens: number; items: number }[]; chips: Chip[] })
  | (OfTurn & { type: 'turn.delta'; text: string; offset: number })
  | (OfTurn & { type: 'turn.answered'; data: Turn })
  | (OfTurn & { type: 'turn.failed' | 'turn.interrupted' | 'turn.cancelled'; error: Trouble | null; partial: string })
  | (OfTurn & { type: 'turn.dropped'; client_id: string })
  | (OfTurn & { type: 'state.added'; state: StateRow; tree: TreeRow; active: number | null; version: number })
  | (OfTurn & { type: 'state.changed'; state: StateRow; tree: TreeRow })
  | (OfTurn & { type: 'state.removed'; states: number[] })
  | (OfTurn & { type: 'memory.refined'; state: StateRow; tree: TreeRow; facts: Item[]; records: Item[]; revisions: Revision[]; pending: number; error?: Trouble | null })
  | { type: 'forget.asked'; client_id: string; text: string; what: string; matches: Match[]; turn?: undefined; seq?: undefined }
  | { type: 'forest.changed'; why: 'import' | 'refined' | 'deleted' | 'moved'; job: number | null; turn: null; seq?: undefined }
  | { type: 'error'; code: string; message: string; action: string; turn?: undefined; seq?: undefined };

export type ClientMessage =
  | { type: 'turn.send'; client_id: string; text: string; parent?: number; new_root?: true; edit_of?: number; as_turn?: true }
  | { type: 'turn.cancel'; turn: number }
  | { type: 'turn.resume'; turn: number; after: number };
