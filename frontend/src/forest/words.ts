import type { Placed } from './layout';
import type { Tag } from './label-layer';
import type { Marks } from './marks';

const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'short' });
const month = new Intl.DateTimeFormat('en-GB', { month: 'short' });
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });

/** "Mon" and "2". */
export function dayName(time: number): { text: string; bold: string } {
  const date = new Date(time);
  return { text: weekday.format(date), bold: String(date.getDate()) };
}

/** "1 Apr". */
export const shortDate = (time: number): string => `${new Date(time).getDate()} ${month.format(time)}`;

/** "1 Apr": the first day shown of another month. */
export function firstDayName(time: number): { text: string; bold: string } {
  return { text: '', bold: shortDate(time) };
}

/** "Mar", with the year in January. */
export function monthName(time: number): { text: string; bold: string } {
  const date = new Date(time);
  return { text: month.format(date), bold: date.getMonth() === 0 ? String(date.getFullYear()) : '' };
}

/** A month as a number, to tell where one begins. */
export const monthOf = (time: number): number => new Date(time).getFullYear() * 12 + new Date(time).getMonth();

/** "Tue 10, 20:11". */
export function whenWords(time: string): string {
  const at = Date.parse(time);
  if (Number.isNaN(at)) return '';
  const { text, bold } = dayName(at);
  return `${text} ${bold} ${month.format(at)}, ${clock.format(at)}`;
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
export function spokenState(state: Placed, marks: Marks): string {
  const { row } = state;
  const parts = [state.parent < 0 && state.topic ? `${state.topic}: ${row.label}` : row.label];
  const when = whenWords(row.time);
  if (when) parts.push(when);
  if (row.facts) parts.push(countWords(row.facts, 'fact'));
  const tag = tagOf(state, marks);
  if (tag) parts.push(tag.text);
  if (marks.active === state.index) parts.push('active');
  if (state.children.length > 1) parts.push(`${state.children.length} branches`);
  return parts.join(', ');
}
