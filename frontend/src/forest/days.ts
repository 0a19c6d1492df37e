/** Days of the forest's zone, and which of them the rows of the drawing are of. Pure. */

import type { Scene } from './layout';

/** Days as YYYY-MM-DD, both included; empty is open. */
export interface DayRange {
  from: string;
  to: string;
}

export const isOpen = ({ from, to }: DayRange): boolean => from === '' && to === '';

const QUARTER = 900_000;

interface Zone {
  format: Intl.DateTimeFormat;
  known: Map<number, string>;
}

const zones = new Map<string, Zone>();

function zoneOf(name: string): Zone {
  let zone = zones.get(name);
  if (!zone) {
    const options = { year: 'numeric', month: '2-digit', day: '2-digit' } as const;
    let format: Intl.DateTimeFormat;
    try {
      format = new Intl.DateTimeFormat('en-CA', { timeZone: name, ...options });
    } catch {
      format = new Intl.DateTimeFormat('en-CA', { timeZone: 'UTC', ...options });
    }
    zones.set(name, (zone = { format, known: new Map() }));
  }
  return zone;
}

/** The day of a moment in a zone, as YYYY-MM-DD; empty for no moment. A zone that isn't known counts as UTC. */
export function dayOf(time: number | string, zone: string): string {
  const moment = typeof time === 'string' ? Date.parse(time) : time;
  if (Number.isNaN(moment)) return '';
  const { format, known } = zoneOf(zone);
  // Days begin at a quarter of an hour everywhere; ten thousand turns are asked for again with every layout.
  const quarter = Math.floor(moment / QUARTER);
  let day = known.get(quarter);
  if (day === undefined) known.set(quarter, (day = format.format(moment)));
  return day;
}

/** The days of a scene's rows. A row that hides a run has several; time needn't grow with the rows (an import brings older turns). */
export class RowDays {
  /** Days with turns, ascending. */
  readonly days: readonly string[];
  /** First and last day of each row; empty for an answer under way. */
  private readonly low: string[] = [];
  private readonly high: string[] = [];

  constructor(readonly scene: Scene) {
    const all = new Set<string>();
    for (const { index, fold } of scene.rows) {
      const members = fold ? fold.ids.map((id) => scene.byId.get(id) as number) : [index];
      const days = members.map((one) => dayOf(scene.states[one].row.time, scene.zone)).filter(Boolean).sort();
      for (const day of days) all.add(day);
      this.low.push(days[0] ?? '');
      this.high.push(days.at(-1) ?? '');
    }
    this.days = [...all].sort();
  }

  /** Whether a row has turns of the range. */
  private has(row: number, { from, to }: DayRange): boolean {
    if (!this.low[row]) return !to;
    return (!from || this.high[row] >= from) && (!to || this.low[row] <= to);
  }

  /** The range that rows between two heights (in row units) are of; null when there is none. An end at the first or the last day is open. */
  between(a: number, b: number): DayRange | null {
    const [top, bottom] = a < b ? [a, b] : [b, a];
    let from = '';
    let to = '';
    this.scene.rows.forEach(({ y, size }, row) => {
      if (!this.low[row] || y + size / 2 <= top || y - size / 2 >= bottom) return;
      if (!from || this.low[row] < from) from = this.low[row];
      if (this.high[row] > to) to = this.high[row];
    });
    return from ? this.opened({ from, to }) : null;
  }

  /** The range with one end moved to a height: at most to the other end. */
  moved(end: 'from' | 'to', units: number, range: DayRange): DayRange {
    const { rows } = this.scene;
    if (end === 'from') {
      const row = rows.findIndex(({ y, size }, at) => this.low[at] && y + size / 2 > units);
      return this.with('from', this.low[row] ?? this.days.at(-1) ?? '', range);
    }
    const row = rows.findLastIndex(({ y, size }, at) => this.low[at] && y - size / 2 < units);
    return this.with('to', this.high[row] ?? this.days[0] ?? '', range);
  }

  /** The range as it is, begun at the day of a height: as many days as before. */
  shifted(units: number, range: DayRange): DayRange {
    const { from, to } = this.ends(range);
    const begin = this.ends(this.moved('from', units, { from: '', to: '' })).from;
    const first = Math.max(0, Math.min(begin, this.days.length - 1 - (to - from)));
    return this.opened({ from: this.days[first] ?? '', to: this.days[first + to - from] ?? '' });
  }

  /** The range with one end some days (that have turns) earlier or later. */
  stepped(end: 'from' | 'to', days: number, range: DayRange): DayRange {
    const at = this.ends(range)[end] + days;
    return this.with(end, this.days[Math.max(0, Math.min(at, this.days.length - 1))] ?? '', range);
  }

  private with(end: 'from' | 'to', day: string, range: DayRange): DayRange {
    const now = this.closed(range);
    if (end === 'from') return this.opened({ from: day > now.to ? now.to : day, to: now.to });
    return this.opened({ from: now.from, to: day < now.from ? now.from : day });
  }

  private closed({ from, to }: DayRange): DayRange {
    return { from: from || (this.days[0] ?? ''), to: to || (this.days.at(-1) ?? '') };
  }

  private opened({ from, to }: DayRange): DayRange {
    return { from: from === this.days[0] ? '' : from, to: to === this.days.at(-1) ? '' : to };
  }

  /** The ends as places among `days`: of the first day that isn't before the range, and of the last that isn't after it. */
  ends({ from, to }: DayRange): { from: number; to: number } {
    const last = this.days.length - 1;
    const first = from ? this.days.findIndex((day) => day >= from) : 0;
    return { from: first < 0 ? last : first, to: to ? Math.max(0, this.days.findLastIndex((day) => day <= to)) : last };
  }

  /** Where the range begins and ends, in row units. */
  extent(range: DayRange): [number, number] {
    const { rows, height } = this.scene;
    const inside = (at: number): boolean => this.has(at, range);
    const first = rows.findIndex((_, at) => inside(at));
    const last = rows.findLastIndex((_, at) => inside(at));
    const begin = first < 0 ? rows.findIndex((_, at) => this.low[at] > range.from) : first;
    const top = !range.from ? 0 : begin < 0 ? height : rows[begin].y - rows[begin].size / 2;
    const bottom = !range.to ? height : last < 0 ? top : rows[last].y + rows[last].size / 2;
    return [top, Math.max(top, bottom)];
  }

  /** What of the rows isn't in the range: from where to where, in row units. */
  outside(range: DayRange): [number, number][] {
    const found: [number, number][] = [];
    if (isOpen(range)) return found;
    this.scene.rows.forEach(({ y, size }, at) => {
      if (this.has(at, range)) return;
      const before = found.at(-1);
      if (before && Math.abs(before[1] - (y - size / 2)) < 1e-6) before[1] = y + size / 2;
      else found.push([y - size / 2, y + size / 2]);
    });
    return found;
  }
}

const dayFormats = new Map<string, Intl.DateTimeFormat>();

function written(day: string, to: string, options: Intl.DateTimeFormatOptions): string {
  const key = JSON.stringify(options);
  let format = dayFormats.get(key);
  if (!format) dayFormats.set(key, (format = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...options })));
  const at = (one: string) => Date.parse(`${one}T00:00:00Z`);
  return to && to !== day ? format.formatRange(at(day), at(to)) : format.format(at(day));
}

/** "3–9 Mar", "from 3 Mar", "until 9 Mar 2025": the year when it isn't `year`. */
export function rangeWords({ from, to }: DayRange, year: string): string {
  const years = [from, to].filter((day) => day && !day.startsWith(year));
  const options: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short' };
  if (years.length) options.year = 'numeric';
  if (from && to) return written(from, to, options);
  return from ? `from ${written(from, '', options)}` : to ? `until ${written(to, '', options)}` : 'all days';
}

/** "Tuesday 3 March 2026". */
export const dayInWords = (day: string): string => written(day, '', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' }).replace(',', '');
