/** The shapes of docs/interfaces.md, as the page reads them. Times are ISO 8601 in UTC. */

import type { Candidate, StateRow, TreeRow } from './forest/types';

export type { Candidate, StateRow, TreeRow };

export interface ApiErrorBody {
  code: string;
  message: string;
  action: string;
  fields?: Record<string, string[]>;
}

/** What went wrong with a turn, in plain words. */
export interface Trouble {
  code: string;
  message: string;
  action: string;
}

export interface Me {
  id: number;
  username: string;
  is_staff: boolean;
  time_zone: string;
  evidence_budget: number;
  /** "offline", or the name of the connected language model. */
  model: string;
  max_turn_bytes: number;
}

export interface Forest {
  id: number;
  name: string;
  time_zone: string;
  created_at: string;
  active_state: number | null;
  version: number;
  counts: { states: number; trees: number; turns: number; facts: number; pending: number };
  sample: boolean;
}

export interface Job {
  id: number;
  kind: string;
  status: 'waiting' | 'running' | 'done' | 'failed';
  done: number;
  total: number;
  message: string;
  forest: number | null;
  error: Trouble | string | null;
}

export type Method = 'continuation' | 'temporal' | 'recall' | 'given' | 'new_root' | 'corrected';

export interface Decision {
  method: Method;
  parent: number | null;
  root: number | null;
  probability: number;
  unsure: boolean;
}

export interface Chip {
  kind: string;
  id: number;
  label: string;
  state: number | null;
  quote: string;
}

export interface CrumbPart {
  state: number;
  label: string;
}

export type TurnStatus =
  | 'received' | 'queued' | 'localized' | 'answering' | 'answered' | 'refined'
  | 'interrupted' | 'failed' | 'cancelled';

export interface Turn {
  id: number;
  client_id: string;
  origin: string;
  status: TurnStatus;
  text: string;
  answer: string;
  partial: string;
  seq: number;
  state: number | null;
  sent_at: string;
  answered_at: string | null;
  refined_at: string | null;
  error: Trouble | null;
  crumb: CrumbPart[];
  decision: Decision | null;
  chips: Chip[];
}

export interface Page<T> {
  results: T[];
  next: string | number | null;
}

export interface StatesPage extends Page<StateRow> {
  trees: TreeRow[];
  active: number | null;
  total: number;
  version: number;
}

export interface Endpoint {
  kind: string;
  id: number;
  text: string;
}

export interface Revision {
  id: number;
  old: Endpoint | null;
  new: Endpoint | null;
  verdict: string;
  by: 'rule' | 'model' | 'user';
  at: string;
  words: string;
}

/** A fact, or a record (artifact, event, mutable state), which has the same keys and its typed `fields`. */
export interface Item {
  id: number;
  kind: 'fact' | 'artifact' | 'event' | 'mutable_state';
  text: string;
  slot: string | null;
  attribute_tag: string | null;
  status: 'current' | 'superseded' | 'retracted' | 'quarantined';
  valid_from: string | null;
  valid_to: string | null;
  known_from: number | null;
  known_until: number | null;
  pinned: boolean;
  state: number;
  position: number;
  evidence: string;
  entities: string[];
  supersedes: number[];
  superseded_by: number | null;
  revisions: Revision[];
  fields?: Record<string, unknown>;
}

export interface StateDetail {
  id: number;
  turn: number | null;
  position: number;
  parent: number | null;
  root: number;
  depth: number;
  time: string;
  label: string;
  user: string;
  assistant: string;
  node_summary: string;
  path_summary: string;
  topic: string;
  entities: string[];
  keywords: string[];
  tokens: number;
  refined_at: string | null;
  origin: string;
  facts: Item[];
  records: Item[];
  used_by: { turn: number | null; state: number; label: string; time: string }[];
}

export interface ChannelHit {
  rank: number;
  score: number;
}

export interface TraceCandidate {
  state: number | null;
  root: number | null;
  label: string;
  tree: string | null;
  active: boolean;
  score: number;
  probability: number;
  parts: Record<string, number>;
  channels: Record<string, ChannelHit | null>;
}

export interface ContextItem {
  kind: string;
  id: number | null;
  text: string;
  tokens: number;
  sources: (number | string)[];
  status: string | null;
}

export interface ContextBlock {
  name: string;
  label: string;
  tokens: number;
  note: string;
  items: ContextItem[];
}

export interface Context {
  budget: number;
  tokens: number;
  instructions_tokens: number;
  input_tokens: number;
  blocks: ContextBlock[];
  cut: { block: string; count: number; reason: string }[];
  messages_hash: string;
  messages: { role: string; content: string }[];
}

export interface Trace {
  turn: number;
  position: number | null;
  text: string;
  time: string;
  decision: {
    method: Method;
    chosen: number | null;
    root: number | null;
    probability: number;
    margin: number | null;
    unsure: boolean;
    threshold: number | null;
    why: string;
    corrected_by: string | null;
    parts: { key: string; label: string }[];
    candidates: TraceCandidate[];
  };
  context: Context | null;
  timings: Partial<Record<string, number | null>>;
  tokens: { input: number | null; output: number | null };
}

export interface SearchHit {
  state: number;
  kind: 'turn' | 'fact' | 'topic';
  id: number;
  text: string;
  score: number;
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
  | (OfTurn & { type: 'state.added'; state: StateRow; tree: TreeRow; active: number | null; version: number })
  | (OfTurn & { type: 'state.changed'; state: StateRow; tree: TreeRow })
  | (OfTurn & { type: 'state.removed'; states: number[] })
  | (OfTurn & { type: 'memory.refined'; state: StateRow; tree: TreeRow; facts: Item[]; records: Item[]; revisions: Revision[]; pending: number })
  | { type: 'error'; code: string; message: string; action: string; turn?: undefined; seq?: undefined };

export type ClientMessage =
  | { type: 'turn.send'; client_id: string; text: string; parent?: number; new_root?: true }
  | { type: 'turn.cancel'; turn: number }
  | { type: 'turn.resume'; turn: number; after: number };
