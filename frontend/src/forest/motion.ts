/** How long things move, in ms. */
export const DURATION = { light: 160, fade: 150, sink: 180, edge: 220, disc: 160, relay: 250, camera: 250 } as const;

interface Tween {
  start: number;
  duration: number;
  step: (t: number) => void;
}

/** The page's ease, cubic-bezier(.2, .7, .2, 1), solved by bisection. */
export function ease(t: number): number {
  if (t <= 0) return 0;
  if (t >= 1) return 1;
  const bezier = (a: number, b: number, s: number): number => 3 * a * s * (1 - s) ** 2 + 3 * b * s * s * (1 - s) + s ** 3;
  let low = 0;
  let high = 1;
  for (let i = 0; i < 20; i++) {
    const middle = (low + high) / 2;
    if (bezier(0.2, 0.2, middle) < t) low = middle;
    else high = middle;
  }
  return bezier(0.7, 1, (low + high) / 2);
}

/** Runs what moves and asks for a picture only when something changed. */
export class Motion {
  private readonly tweens = new Map<string, Tween>();
  private request = 0;
  private readonly reduced = matchMedia('(prefers-reduced-motion: reduce)');

  constructor(private readonly draw: () => void) {}

  /** Draws in the next animation frame. */
  invalidate(): void {
    if (!this.request) this.request = requestAnimationFrame((now) => this.tick(now));
  }

  /** Moves something: `step` gets the eased share from 0 to 1. A motion of the same name is replaced. */
  run(name: string, duration: number, step: (t: number) => void, delay = 0): void {
    if (this.reduced.matches || duration <= 0) {
      this.tweens.delete(name);
      step(1);
    } else {
      step(0);
      this.tweens.set(name, { start: performance.now() + delay, duration, step });
    }
    this.invalidate();
  }

  /** Leaves a motion where it is. */
  stop(name: string): void {
    this.tweens.delete(name);
  }

  /** Whether anything is under way. */
  get busy(): boolean {
    return this.tweens.size > 0;
  }

  /** Ends everything. */
  destroy(): void {
    cancelAnimationFrame(this.request);
    this.tweens.clear();
  }

  private tick(now: number): void {
    this.request = 0;
    for (const [name, tween] of [...this.tweens]) {
      const t = (now - tween.start) / tween.duration;
      if (t >= 1) this.tweens.delete(name);
      if (t > 0) tween.step(ease(t));
    }
    this.draw();
    if (this.tweens.size) this.invalidate();
  }
}
