import { dayOf } from './days';
import type { Placed } from './layout';
import type { Tag } from './label-layer';
import type { Marks } from './marks';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sept', 'Oct', 'Nov', 'Dec'];
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

/** The date of a moment in the forest's zone, as the date of that day at midnight UTC. */
const dateOf = (time: number, zone: string): Date => new Date(`${dayOf(time, zone)}T00:00:00Z`);

const clocks = new Map<string, Intl.DateTimeFormat>();

/** "20:11". */
function clock(time: number, zone: string): string {
  let format = clocks.get(zone);
  if (!format) {
    const options = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
    try {
      format = new Intl.DateTimeFormat('en-GB', { timeZone: zone, ...options });
    } catch {
      format = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...options });
    }
    clocks.set(zone, format);
  }
  return format.format(time);
}

/** "Mon" and "2". */
export function dayName(time: number, zone: string): { text: string; bold: string } {
  const date = dateOf(time, zone);
  return { text: WEEKDAYS[date.getUTCDay()], bold: String(date.getUTCDate()) };
}

/** "1 Apr". */
export function shortDate(time: number, zone: string): string {
  const date = dateOf(time, zone);
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`;
}

/** "1 Apr": the first day shown of another month. */
export function firstDayName(time: number, zone: string): { text: string; bold: string } {
  return { text: '', bold: shortDate(time, zone) };
}

/** "Mar", with the year in January. */
export function monthName(time: number, zone: string): { text: string; bold: string } {
  const date = dateOf(time, zone);
  return { text: MONTHS[date.getUTCMonth()], bold: date.getUTCMonth() === 0 ? String(date.getUTCFullYear()) : '' };
}

/** A month as a number, to tell where one begins. */
export function monthOf(time: number, zone: string): number {
  const date = dateOf(time, zone);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** "Tue 10, 20:11". */
export function whenWords(time: string, zone: string): string {
  const at = Date.parse(time);
  if (Number.isNaN(at)) return '';
  const { text } = dayName(at, zone);
  return `${text} ${shortDate(at, zone)}, ${clock(at, zone)}`;
}

/** "91 %", or "< 1 %". */
export function percentWords(p: number): string {
  return p < 0.01 ? '< 1\u00a0%' : `${Math.round(p * 100)}\u00a0%`;
}

/** "3 facts", "1 fact". */
export const countWords = (n: number, one: string, many = `${one}s`): string => `${n.toLocaleString('en-GB')} ${n === 1 ? one : many}`;

/** The word at the right of a state's label: the one that matters most. */
export function tagOf(state: Placed, marks: Marks): Tag | null {
  const { row, index } = state;
  const glow = marks.glows.get(index);
  if (glow) return { text: percentWords(glow.probability), tone: 'moss' };
  if (row.unsure) return { text: 'unsure', tone: 'sun' };
  if (row.pending) return { text: 'remembering', tone: 'sun' };
  if (row.moved_from !== null) return { text: 'moved by you', tone: 'plain' };
  if (row.replaced) return { text: 'replaced', tone: 'plain' };
  if (row.new_value) return { text: 'new value', tone: 'plain' };
  if (row.list) return { text: `list of ${row.list}`, tone: 'plain' };
  return null;
}

/** How much a state's label must be seen: smaller is more, null is only where there is room. */
export function rankOf(state: Placed, marks: Marks): number | null {
  const { row, index } = state;
  if (state.growing || marks.aim === index || marks.lifted === index) return 0;
  if (state.parent < 0) return 1;
  if (marks.selected === index || marks.focused === index) return 2;
  if (marks.glows.has(index) || marks.active === index) return 3;
  const order = [row.unsure, row.pending, row.moved_from !== null, row.replaced, row.new_value, row.list > 0];
  const at = order.indexOf(true);
  return at < 0 ? null : 4 + at;
}

/** A state in one line, for a screen reader. */
export function spokenState(state: Placed, marks: Marks, zone: string): string {
  const { row } = state;
  const parts = [state.parent < 0 && state.topic ? `${state.topic}: ${row.label}` : row.label];
  const when = whenWords(row.time, zone);
  if (when) parts.push(when);
  if (row.facts) parts.push(countWords(row.facts, 'fact'));
  const tag = tagOf(state, marks);
  if (tag) parts.push(tag.text);
  if (marks.active === state.index) parts.push('active');
  if (state.children.length > 1) parts.push(`${state.children.length} branches`);
  return parts.join(', ');
}
