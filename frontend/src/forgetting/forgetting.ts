/** Deleting for good: what the page knows while someone looks at what would go. Pure. */

import type { Placement } from '../api';
import type { Loaded } from '../state';
import type { Forgotten, Item, Match, Trouble } from '../types';

/** What is to go. */
export type Target =
  | { kind: 'state'; id: number; text: string }
  | { kind: Item['kind']; id: number; text: string }
  | { kind: 'forest'; id: number; text: string }
  | { kind: 'account'; text: string };

/** What the chat was asked to forget; the text itself is kept here only, to be sent as a message after all. */
export interface Asked {
  text: string;
  /** Where it would have gone as a message. */
  placement: Placement;
  what: string;
  matches: Match[];
  /** Matches that went already, by key. */
  gone: ReadonlySet<string>;
}

export interface Forgetting {
  asked: Asked | null;
  target: Target | null;
  mode: 'children_to_parent' | 'with_children';
  redact: boolean;
  /** The name written to confirm. */
  typed: string;
  preview: Loaded<Forgotten>;
  doing: boolean;
  trouble: Trouble | null;
}

export const forgettingOf = (target: Target | null, asked: Asked | null = null): Forgetting => ({
  asked, target, mode: 'children_to_parent', redact: false, typed: '', preview: { status: 'none' }, doing: false, trouble: null,
});

export const keyOf = (match: { kind: string; id: number }): string => `${match.kind}${match.id}`;

/** Where the deletion is asked for, and with what. */
export function requestOf({ target, mode, redact }: Forgetting, preview: boolean): { path: string; params: Record<string, string | number | null> } {
  const base = { preview: preview ? 1 : null };
  if (target === null) throw new Error('nothing is chosen');
  switch (target.kind) {
    case 'state': return { path: `states/${target.id}/`, params: { ...base, mode, redact: redact ? 1 : null } };
    case 'forest': return { path: `forests/${target.id}/`, params: base };
    case 'account': return { path: 'me/', params: base };
    default: return { path: `items/${target.kind}/${target.id}/`, params: { ...base, redact: redact ? 1 : null } };
  }
}

/** What must be written before a whole forest or account goes; null when a click is enough. */
export const toBeTyped = (target: Target | null): string | null => (target?.kind === 'forest' || target?.kind === 'account' ? target.text : null);

export function mayDelete({ target, typed, preview, doing }: Forgetting): boolean {
  const word = toBeTyped(target);
  return target !== null && !doing && preview.status === 'here' && (word === null || typed.trim() === word);
}
