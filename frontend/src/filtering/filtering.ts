/** Which states are looked at: by topic, name, time and mark. Pure; written in the address. */

import { dayOf } from '../forest/days';
import type { StateRow } from '../types';

export const MARKS = ['facts', 'replaced', 'unsure', 'moved', 'pending'] as const;
export type Mark = (typeof MARKS)[number];

export interface Filter {
  /** The root of a tree. */
  topic: number | null;
  /** A name that was mentioned. */
  name: string;
  /** Days of the forest's zone, as YYYY-MM-DD, both included. */
  from: string;
  to: string;
  /** All of these hold. */
  marks: readonly Mark[];
}

export const noFilter = (): Filter => ({ topic: null, name: '', from: '', to: '', marks: [] });

/** How many things are asked for; 0 shows all. */
export const strength = (filter: Filter): number => Number(filter.topic !== null) + Number(filter.name.trim() !== '') + Number(filter.from !== '' || filter.to !== '') + filter.marks.length;

const HAS: Record<Mark, (row: StateRow) => boolean> = {
  facts: (row) => row.facts > 0,
  replaced: (row) => row.replaced,
  unsure: (row) => row.unsure,
  moved: (row) => row.moved_from !== null,
  pending: (row) => row.pending,
};

/** The states that pass; null when nothing is asked for. */
export function passing(rows: Iterable<StateRow>, filter: Filter, zone: string): Set<number> | null {
  if (!strength(filter)) return null;
  const name = filter.name.trim().toLocaleLowerCase();
  const passed = new Set<number>();
  for (const row of rows) {
    if (filter.topic !== null && row.root !== filter.topic) continue;
    if (name && !row.entities.some((entity) => entity.toLocaleLowerCase().includes(name))) continue;
    if (filter.from && dayOf(row.time, zone) < filter.from) continue;
    if (filter.to && dayOf(row.time, zone) > filter.to) continue;
    if (filter.marks.every((mark) => HAS[mark](row))) passed.add(row.id);
  }
  return passed;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

export function readFilter(params: URLSearchParams): Filter {
  const day = (key: string) => (DAY.test(params.get(key) ?? '') ? params.get(key)! : '');
  const topic = params.get('topic');
  return {
    topic: topic && /^\d{1,15}$/.test(topic) ? Number(topic) : null, name: (params.get('name') ?? '').slice(0, 120), from: day('from'), to: day('to'),
    marks: MARKS.filter((mark) => (params.get('only') ?? '').split(',').includes(mark)),
  };
}

export function writeFilter(filter: Filter, params: URLSearchParams): void {
  if (filter.topic !== null) params.set('topic', String(filter.topic));
  if (filter.name.trim()) params.set('name', filter.name.trim());
  if (filter.from) params.set('from', filter.from);
  if (filter.to) params.set('to', filter.to);
  if (filter.marks.length) params.set('only', filter.marks.join(','));
}
