/** Deletions in words a person reads. Pure. */

import { count } from '../shell/time';
import type { Forgotten, Match } from '../types';
import type { Target } from './forgetting';

export const TITLES: Record<Target['kind'], string> = {
  state: 'Delete this turn', fact: 'Delete this fact', artifact: 'Delete this list', event: 'Delete this event', mutable_state: 'Delete this value',
  forest: 'Delete this forest', account: 'Delete your account',
};

export const KIND_WORDS: Record<Match['kind'], string> = { state: 'a whole turn', fact: 'a fact', artifact: 'a list', event: 'an event', mutable_state: 'a value' };

const COUNTED: [key: string, one: string, many: string][] = [
  ['forests', 'forest', 'forests'], ['turns', 'turn', 'turns'], ['states', 'turn', 'turns'], ['facts', 'fact', 'facts'], ['records', 'list, event or value', 'lists, events and values'],
  ['artifacts', 'list', 'lists'], ['events', 'event', 'events'], ['mutable_states', 'value', 'values'], ['revisions', 'revision', 'revisions'], ['traces', 'trace', 'traces'],
];

/** "3 turns, 2 facts and 1 list". */
export function countsWords(counts: Record<string, number>): string {
  const parts = COUNTED.filter(([key]) => (counts[key] ?? 0) > 0)
    // A turn and its state are one thing to a person.
    .filter(([key]) => key !== 'states' || !counts['turns'])
    .map(([key, one, many]) => count(counts[key]!, one, many));
  return parts.length > 1 ? `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}` : parts.join('');
}

/** A passage without its Markdown marks, to be read in a line. */
export const bare = (text: string): string => text.replace(/\*\*|__|`|^#+ /gm, '');

export const rebuiltWords = (rebuilt: Forgotten['rebuilt']): string =>
  [rebuilt.summaries && count(rebuilt.summaries, 'summary', 'summaries'), rebuilt.topics && count(rebuilt.topics, 'topic name')].filter(Boolean).join(' and ');
