/** The size of a turn as the server counts it. */

const encoder = new TextEncoder();

export const utf8Bytes = (text: string): number => encoder.encode(text).length;

/** Shown from seven eighths of the limit on. */
export const isNear = (bytes: number, limit: number): boolean => bytes >= limit * 0.875;

export function sizeWords(bytes: number, limit: number): string {
  const kib = (value: number) => (value / 1024).toLocaleString('en', { maximumFractionDigits: 1, minimumFractionDigits: bytes > limit ? 1 : 0 });
  return bytes > limit
    ? `${kib(bytes)} of ${limit / 1024} KiB. Shorten it, or send it in parts.`
    : `${kib(bytes)} of ${limit / 1024} KiB`;
}
