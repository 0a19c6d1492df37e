/** What the chat knows of its turns: pure functions from turns and a message to turns. */

import type { Placement } from '../api';
import type { Candidate, EditedFrom, Item, ServerMessage, Turn, TurnStatus } from '../types';

/** A turn as the chat shows it. `id` is null until the server has it. */
export interface ChatTurn extends Omit<Turn, 'id'> {
  id: number | null;
  /** Turns before this one in the queue. */
  ahead: number;
  /** Code points in `partial`, the unit of a delta's offset. */
  length: number;
  /** The forest had a frame to light the path, so words may be shown. */
  lit: boolean;
  path: number[];
  candidates: Candidate[];
  second: number | null;
  /** Facts that this turn gave, when they arrived while the page was open. */
  learned: Item[];
  placement: Placement;
}

export const OPEN: ReadonlySet<TurnStatus> = new Set(['received', 'queued', 'localized', 'answering']);
export const BROKEN: ReadonlySet<TurnStatus> = new Set(['interrupted', 'failed', 'cancelled']);

export const codePoints = (text: string): number => {
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0xdc00 || unit > 0xdfff) count++;
  }
  return count;
};

const extras = (partial: string) => ({
  ahead: 0, length: codePoints(partial), lit: true,
  path: [] as number[], candidates: [] as Candidate[], second: null, learned: [] as Item[], placement: {},
});

export const fromServer = (turn: Turn): ChatTurn => ({ ...extras(turn.partial), ...turn });

/** A turn just written here and not yet known to the server. */
export const written = (client_id: string, text: string, sent_at: string, placement: Placement, edited_from: EditedFrom | null = null): ChatTurn => ({
  ...extras(''), id: null, client_id, origin: 'chat', status: 'received', text, answer: '', partial: '', seq: 0, state: null,
  sent_at, answered_at: null, refined_at: null, error: null, crumb: [], decision: null, chips: [], edited_from, placement,
});

/** What a turn edited from the turn `id` will say of it; null when that one isn't here. */
export function editedFrom(turns: ChatTurn[], id: number | undefined, text: string): EditedFrom | null {
  const original = id === undefined ? undefined : turns.find((turn) => turn.id === id);
  if (!original || original.id === null || original.state === null) return null;
  return { turn: original.id, state: original.state, label: original.text.trim().split('\n', 1)[0]!.slice(0, 80), again: original.text === text };
}

/** The turns that were edited or asked again from others, by the id of their original. */
export function editsOf(turns: ChatTurn[]): Map<number, ChatTurn[]> {
  const edits = new Map<number, ChatTurn[]>();
  for (const turn of turns) if (turn.edited_from) edits.set(turn.edited_from.turn, [...(edits.get(turn.edited_from.turn) ?? []), turn]);
  return edits;
}

/** Put the server's view of some turns over ours: same turn by id or client id, the rest added, oldest first. */
export function merge(turns: ChatTurn[], incoming: Turn[]): ChatTurn[] {
  const result = [...turns];
  for (const turn of incoming) {
    const at = result.findIndex((known) => known.id === turn.id || (turn.client_id && known.client_id === turn.client_id));
    const known = result[at];
    if (!known) result.push(fromServer(turn));
    else if (known.id === null || turn.seq >= known.seq || !OPEN.has(turn.status)) {
      // The stream may be ahead of the partial text that the database keeps once a second.
      const partial = OPEN.has(turn.status) && known.partial.length > turn.partial.length ? known.partial : turn.partial;
      result[at] = { ...known, ...turn, partial, length: codePoints(partial) };
    } else {
      // Sent from another page: its messages say neither when, nor what it was edited from, and while it waits not even its text.
      result[at] = { ...known, text: known.text || turn.text, sent_at: turn.sent_at, edited_from: turn.edited_from };
    }
  }
  return result.sort((a, b) => (a.id ?? Infinity) - (b.id ?? Infinity) || a.sent_at.localeCompare(b.sent_at));
}

/** The turns without those dropped during a gap: `before` were known when the newest page, `latest`, was asked for; `all`: it goes back to the first turn. */
export function present(turns: ChatTurn[], before: readonly ChatTurn[], latest: Turn[], all: boolean): ChatTurn[] {
  const there = new Set(latest.map((turn) => turn.id));
  const oldest = all ? 0 : latest[0]?.id ?? Infinity;
  const gone = new Set(before.filter((turn) => turn.id !== null && turn.id >= oldest && !there.has(turn.id)).map((turn) => turn.id));
  return turns.filter((turn) => !gone.has(turn.id));
}

export interface Applied {
  turns: ChatTurn[];
  /** The part held here doesn't join the delta: this turn must be fetched. */
  refetch?: number;
}

/** One message of a turn applied. A turn not known yet is made when it is queued or accepted. */
export function apply(turns: ChatTurn[], message: ServerMessage, now: string): Applied {
  if (message.type === 'state.removed') return { turns: turns.filter((turn) => turn.state === null || !message.states.includes(turn.state)) };
  if (message.type === 'error' || message.type === 'forest.changed' || message.type === 'forget.asked' || message.type.startsWith('state.')) return { turns };
  const id = message.turn as number;
  if (message.type === 'turn.dropped') return { turns: turns.filter((turn) => turn.id !== id) };
  if (message.type === 'turn.queued' || message.type === 'turn.accepted') {
    const at = turns.findIndex((turn) => turn.id === id || turn.client_id === message.client_id);
    const known = turns[at] ?? written(message.client_id, message.type === 'turn.accepted' ? message.text : '', now, {});
    const queued = message.type === 'turn.queued';
    const next: ChatTurn = {
      ...known, id, seq: message.seq ?? known.seq, status: queued ? 'queued' : 'received', ahead: queued ? message.ahead : 0,
      text: queued ? known.text : message.text || known.text, error: null,
      ...(queued ? {} : { partial: '', length: 0 }),
    };
    return { turns: at < 0 ? [...turns, next] : turns.with(at, next), ...(at < 0 || !next.text ? { refetch: id } : {}) };
  }
  const at = turns.findIndex((turn) => turn.id === id);
  const turn = turns[at];
  if (!turn) return OPEN_TYPES.has(message.type) ? { turns, refetch: id } : { turns };
  const seq = message.seq ?? turn.seq;
  const put = (part: Partial<ChatTurn>): Applied => ({ turns: turns.with(at, { ...turn, seq, ...part }) });
  switch (message.type) {
    case 'turn.localized':
      return put({
        status: 'localized', decision: message.decision, path: message.path,
        candidates: message.candidates, second: message.second, lit: false, ahead: 0,
      });
    case 'turn.assembled':
      return put({ status: 'answering', chips: message.chips });
    case 'turn.delta': {
      if (message.offset > turn.length) return { ...put({ status: 'answering' }), refetch: id };
      const before = message.offset === turn.length ? turn.partial : Array.from(turn.partial).slice(0, message.offset).join('');
      const partial = before + message.text;
      return put({ status: 'answering', partial, length: message.offset + codePoints(message.text) });
    }
    case 'turn.answered':
      return put({ ...message.data, partial: '', length: 0, seq });
    case 'turn.failed':
    case 'turn.interrupted':
    case 'turn.cancelled':
      return put({
        status: message.type.slice(5) as TurnStatus, error: message.error,
        partial: message.partial || turn.partial, length: codePoints(message.partial || turn.partial),
      });
    case 'memory.refined':
      if (message.error) return put({ error: message.error });
      // A part kept in another tab: its answer isn't known here.
      return { ...put({ status: 'refined', refined_at: turn.refined_at ?? now, error: null, learned: message.facts }), ...(turn.state === null ? { refetch: id } : {}) };
    default:
      return { turns };
  }
}

const OPEN_TYPES: ReadonlySet<string> = new Set(['turn.localized', 'turn.assembled', 'turn.delta', 'turn.answered', 'turn.failed', 'turn.interrupted', 'turn.cancelled']);

