/** Times in the words of the forest's own time zone. */

const formats = new Map<string, Intl.DateTimeFormat>();

function format(zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = zone + JSON.stringify(options);
  let made = formats.get(key);
  if (!made) {
    try {
      made = new Intl.DateTimeFormat('en-GB', { timeZone: zone, ...options });
    } catch {
      made = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...options });
    }
    formats.set(key, made);
  }
  return made;
}

const DAY = { year: 'numeric', month: '2-digit', day: '2-digit' } as const;
const MS_PER_DAY = 86_400_000;

const clock = (date: Date, zone: string) => format(zone, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(date);
const dayKey = (date: Date, zone: string) => format(zone, DAY).format(date);

/** "Today 09:31", "Yesterday 18:02", "Tue 10, 20:11", "10 Mar 2025, 20:11". */
export function shortTime(iso: string, zone: string, now = new Date()): string {
  const date = new Date(iso);
  const day = dayKey(date, zone);
  if (day === dayKey(now, zone)) return `Today ${clock(date, zone)}`;
  if (day === dayKey(new Date(now.getTime() - MS_PER_DAY), zone)) return `Yesterday ${clock(date, zone)}`;
  const age = now.getTime() - date.getTime();
  if (age > 0 && age < 28 * MS_PER_DAY) return `${format(zone, { weekday: 'short' }).format(date)} ${format(zone, { day: 'numeric' }).format(date)}, ${clock(date, zone)}`;
  const sameYear = format(zone, { year: 'numeric' }).format(date) === format(zone, { year: 'numeric' }).format(now);
  return `${format(zone, { day: 'numeric', month: 'short', ...(sameYear ? {} : { year: 'numeric' }) }).format(date)}, ${clock(date, zone)}`;
}

/** "today 09:31" or "Thursday 12 November 13:02", for a line that goes on after a comma. */
export function longTime(iso: string, zone: string, now = new Date()): string {
  const date = new Date(iso);
  if (dayKey(date, zone) === dayKey(now, zone)) return `today ${clock(date, zone)}`;
  const sameYear = format(zone, { year: 'numeric' }).format(date) === format(zone, { year: 'numeric' }).format(now);
  const day = format(zone, { weekday: 'long', day: 'numeric', month: 'long', ...(sameYear ? {} : { year: 'numeric' }) }).format(date).replace(',', '');
  return `${day} ${clock(date, zone)}`;
}

/** "Mon 2 Nov", with the year when it is another one. */
export function dayName(iso: string, zone: string, now = new Date()): string {
  const date = new Date(iso);
  const sameYear = format(zone, { year: 'numeric' }).format(date) === format(zone, { year: 'numeric' }).format(now);
  return format(zone, { weekday: 'short', day: 'numeric', month: 'short', ...(sameYear ? {} : { year: 'numeric' }) }).format(date).replace(',', '');
}

/** "17 ms", "0.4 s". */
export const duration = (ms: number): string =>
  ms < 200 ? `${Math.round(ms)} ms` : `${(ms / 1000).toLocaleString('en', { maximumFractionDigits: ms < 10_000 ? 1 : 0 })} s`;

/** A score to two places, with a real minus. */
export const figure = (value: number): string => `${value < -0.004 ? '−' : ''}${Math.abs(value).toFixed(2)}`;

export const percent = (p: number): string => {
  const value = Math.round(p * 100);
  return value === 0 && p > 0 ? '< 1 %' : value === 100 && p < 1 ? '> 99 %' : `${value} %`;
};

export const count = (n: number, one: string, many = `${one}s`): string => `${n.toLocaleString('en')} ${n === 1 ? one : many}`;

export const localZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';
