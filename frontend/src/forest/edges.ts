/** The part of a canvas context (and of a d3-path) that an edge needs. */
export interface PathSink {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
  bezierCurveTo(x1: number, y1: number, x2: number, y2: number, x: number, y: number): void;
}

/** How far below the parent the curve ends: at most the child, else 2.2 rows or .9 of the way across. */
export function bend(x0: number, y0: number, x1: number, y1: number, unit: number): number {
  return Math.max(0, Math.min(y1 - y0, Math.max(2.2 * unit, 0.9 * Math.abs(x1 - x0))));
}

/** Goes on from (x0, y0): leaves downward, bends over to the child's lane, then straight to the child. */
export function continueEdge(to: PathSink, x0: number, y0: number, x1: number, y1: number, unit: number): void {
  if (x0 !== x1) {
    const k = bend(x0, y0, x1, y1, unit);
    to.bezierCurveTo(x0, y0 + 0.62 * k, x1, y0 + 0.38 * k, x1, y0 + k);
    if (y0 + k >= y1) return;
  }
  to.lineTo(x1, y1);
}

/** One edge from the parent's place to the child's. */
export function edge(to: PathSink, x0: number, y0: number, x1: number, y1: number, unit: number): void {
  to.moveTo(x0, y0);
  continueEdge(to, x0, y0, x1, y1, unit);
}

/** Thick at the root, thin at the tip: the width of an edge by the descendants of its child. */
export function edgeWidth(descendants: number): number {
  return 1.5 + 0.36 * Math.log2(1 + descendants);
}
