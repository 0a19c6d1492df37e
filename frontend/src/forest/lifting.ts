/** What lifting a state leads to. */
export interface LiftOwner {
  /** Index of the node at a place, or −1; labels don't count. */
  node(x: number, y: number, reach: number): number;
  /** It may be dragged at once: it is chosen, and its ring is the handle. */
  isHandle(index: number): boolean;
  /** Whether it can be moved at all. */
  canLift(index: number): boolean;
  /** A hand holds it, or no longer: meanwhile the camera stands still. */
  held(index: number): void;
  lift(index: number): void;
  /** The hand is here, in px of the canvas. */
  carry(x: number, y: number): void;
  drop(event: PointerEvent): void;
  cancel(): void;
}

/** A press this long takes hold of a state; with a finger it comes after the card. */
const HOLD = { mouse: 320, touch: 520 } as const;
/** A hand that trembles this much still holds. */
const SLACK = { mouse: 5, touch: 9 } as const;
const REACH = { mouse: 9, touch: 20 } as const;

interface Grip {
  index: number;
  x: number;
  y: number;
  pointer: number;
  held: boolean;
  lifted: boolean;
}

/** Takes a state from its place: held for a moment, or by the ring of the chosen one, then dragged. Escape puts it back. */
export function listenToLifting(canvas: HTMLCanvasElement, owner: LiftOwner): () => void {
  const abort = new AbortController();
  let grip: Grip | null = null;
  let timer = 0;

  const place = (event: PointerEvent): [number, number] => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const letGo = (): void => {
    clearTimeout(timer);
    if (grip?.held) owner.held(-1);
    grip = null;
  };
  const hold = (): void => {
    if (!grip) return;
    grip.held = true;
    owner.held(grip.index);
  };
  const cancel = (): void => {
    const lifted = grip?.lifted;
    letGo();
    if (lifted) owner.cancel();
  };

  canvas.addEventListener('pointerdown', (event) => {
    cancel();
    if (event.button !== 0 || !event.isPrimary || event.ctrlKey || event.shiftKey) return;
    const kind = event.pointerType === 'touch' ? 'touch' : 'mouse';
    const [x, y] = place(event);
    const index = owner.node(x, y, REACH[kind]);
    if (index < 0 || !owner.canLift(index)) return;
    grip = { index, x, y, pointer: event.pointerId, held: false, lifted: false };
    if (owner.isHandle(index) && kind === 'mouse') hold();
    else timer = window.setTimeout(hold, HOLD[kind]);
  }, { signal: abort.signal });

  canvas.addEventListener('pointermove', (event) => {
    if (!grip || event.pointerId !== grip.pointer) return;
    const [x, y] = place(event);
    const far = Math.hypot(x - grip.x, y - grip.y) > SLACK[event.pointerType === 'touch' ? 'touch' : 'mouse'];
    if (!grip.held) {
      if (far) letGo();
      return;
    }
    if (!grip.lifted) {
      if (!far) return;
      grip.lifted = true;
      canvas.setPointerCapture(event.pointerId);
      owner.lift(grip.index);
    }
    owner.carry(x, y);
  }, { signal: abort.signal });

  canvas.addEventListener('pointerup', (event) => {
    if (!grip || event.pointerId !== grip.pointer) return;
    const { lifted } = grip;
    letGo();
    if (lifted) owner.drop(event);
  }, { signal: abort.signal });
  // A second finger pinches: whatever was held stays where it was.
  addEventListener('pointerdown', (event) => !event.isPrimary && cancel(), { signal: abort.signal, capture: true });
  canvas.addEventListener('pointercancel', cancel, { signal: abort.signal });
  addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !grip?.lifted) return;
    event.preventDefault();
    event.stopPropagation();
    cancel();
  }, { signal: abort.signal, capture: true });
  return () => {
    clearTimeout(timer);
    abort.abort();
  };
}
