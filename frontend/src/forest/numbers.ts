/** Numbers in rising order. */
export const ascending = (a: number, b: number): number => a - b;

/** `value` held between two bounds; the lower one wins when they cross. */
export const clamp = (value: number, low: number, high: number): number => Math.max(low, Math.min(high, value));

/** The number `t` of the way from `a` to `b`. */
export const lerp = (a: number, b: number, t: number): number => a + (b - a) * t;
