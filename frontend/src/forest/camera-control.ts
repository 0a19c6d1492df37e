import { drag, type D3DragEvent } from 'd3-drag';
import { select } from 'd3-selection';
import { zoom, ZoomTransform, type D3ZoomEvent, type ZoomBehavior } from 'd3-zoom';
import { MARGIN } from './camera';
import type { Camera } from './types';

/** What the hands move, and what they may ask about it. */
export interface CameraOwner {
  camera(): Camera;
  /** Keeps a camera on the forest. */
  hold(camera: Camera): Camera;
  range(): [number, number];
  /** Zoom widens across as well (tree drawing), or only rows. */
  zoomsAcross(): boolean;
  moved(camera: Camera, gesture: boolean): void;
  /** A hand holds a state: the camera stands still. */
  holdsState(): boolean;
  /** Whether a place belongs to the strip, which has its own drag. */
  onStrip(x: number): boolean;
  stripDrag(phase: 'start' | 'drag' | 'end', y: number): void;
  /** What a hand would take hold of there. */
  stripAt(y: number): string;
}

/** d3-zoom's transform for a camera: k is the unit height, y the place of row unit 0. */
const toTransform = ({ unit, top, left }: Camera): ZoomTransform => new ZoomTransform(unit, -left, MARGIN.top - top * unit);
const toCamera = ({ k, x, y }: ZoomTransform): Camera => ({ unit: k, top: (MARGIN.top - y) / k, left: -x });

/** Wheel, drag and pinch on the canvas: zooms rows at the pointer, pans; the strip has a drag of its own. */
export class CameraControl {
  private readonly zoom: ZoomBehavior<HTMLCanvasElement, unknown>;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly owner: CameraOwner,
  ) {
    this.zoom = zoom<HTMLCanvasElement, unknown>()
      .clickDistance(5)
      .tapDistance(12)
      .filter((event: MouseEvent | TouchEvent) => this.accepts(event))
      .constrain((transform) => this.constrain(transform))
      .on('zoom', (event: D3ZoomEvent<HTMLCanvasElement, unknown>) => {
        if (event.sourceEvent && !owner.holdsState()) owner.moved(toCamera(event.transform), true);
      });
    const strip = drag<HTMLCanvasElement, unknown>()
      .filter((event: MouseEvent | TouchEvent) => !('button' in event && event.button) && owner.onStrip(this.xOf(event)))
      .on('start drag end', (event: D3DragEvent<HTMLCanvasElement, unknown, unknown>) => owner.stripDrag(event.type as 'start' | 'drag' | 'end', event.y));
    select(canvas).call(this.zoom).on('dblclick.zoom', null).call(strip);
    canvas.addEventListener('wheel', this.pan, { passive: false });
    canvas.addEventListener('pointermove', this.over);
    this.sync();
  }

  /** Tells d3-zoom of a camera that was set from elsewhere. */
  sync(): void {
    this.zoom.scaleExtent(this.owner.range());
    select(this.canvas).property('__zoom', toTransform(this.owner.camera()));
  }

  destroy(): void {
    select(this.canvas).on('.zoom', null).on('.drag', null);
    this.canvas.removeEventListener('wheel', this.pan);
    this.canvas.removeEventListener('pointermove', this.over);
  }

  private accepts(event: MouseEvent | TouchEvent): boolean {
    if (event.type === 'wheel') return !event.shiftKey;
    return !event.ctrlKey && !('button' in event && event.button) && !this.owner.onStrip(this.xOf(event));
  }

  private xOf(event: MouseEvent | TouchEvent): number {
    const point = 'touches' in event ? event.touches[0] : event;
    return point ? point.clientX - this.canvas.getBoundingClientRect().left : 0;
  }

  private constrain(transform: ZoomTransform): ZoomTransform {
    const before = this.owner.camera();
    if (this.owner.holdsState()) return toTransform(before);
    const camera = toCamera(transform);
    // Wheel and pinch zoom in rows: lanes stay where they are across.
    if (!this.owner.zoomsAcross() && Math.abs(camera.unit - before.unit) > 1e-9) camera.left = before.left;
    return toTransform(this.owner.hold(camera));
  }

  /** The cursor says what the strip would do; a hand that holds something keeps its own. */
  private readonly over = (event: PointerEvent): void => {
    if (event.buttons) return;
    const { left, top } = this.canvas.getBoundingClientRect();
    if (this.owner.onStrip(event.clientX - left)) this.canvas.dataset['strip'] = this.owner.stripAt(event.clientY - top);
    else delete this.canvas.dataset['strip'];
  };

  /** Shift and wheel scroll instead of zooming. */
  private readonly pan = (event: WheelEvent): void => {
    if (!event.shiftKey) return;
    event.preventDefault();
    const camera = this.owner.camera();
    const delta = event.deltaY || event.deltaX;
    this.owner.moved(this.owner.hold({ ...camera, top: camera.top + delta / camera.unit }), true);
    this.sync();
  };
}
