import { clamp, lerp } from './numbers';
import type { Scene } from './layout';
import type { Camera, Drawing } from './types';

/** What the size of the drawing and the person's screen decide. */
export interface Stage {
  width: number;
  height: number;
  /** Narrow screen, touched: tighter lanes, taller rows. */
  phone: boolean;
}

/** Measures of the drawing in CSS px, for one camera. */
export interface Measures {
  unit: number;
  pitch: number;
  /** x of lane 0. */
  lane0: number;
  /** Where lanes end and the leaf of a label stands. */
  label: number;
  /** Right edge of tags. */
  tags: number;
  strip: { x: number; width: number };
  /** Radius of a plain node. */
  radius: number;
  mode: 'near' | 'rows' | 'fit' | 'far' | 'stems' | 'tree';
}

/** Free space above the first and below the last row. */
export const MARGIN = { top: 12, bottom: 18 } as const;
/** Room for names above the roots of the tree drawing. */
export const TIDY_TOP = 36;
/** Largest unit height. */
export const NEAREST = 44;
/** Below this unit height lanes gather into stems. */
export const STEMS_BELOW = 2;

/** The unit height at which every row is in view, between what is still useful and what looks lost. */
export function fitUnit(scene: Scene, stage: Stage, drawing: Drawing = 'lanes'): number {
  const height = Math.max(1, stage.height - MARGIN.top - MARGIN.bottom);
  const most = stage.phone ? 32 : 22;
  if (drawing === 'tree') {
    const across = Math.max(1, stage.width - 150) / Math.max(1, scene.tree.width + 1);
    return clamp(Math.min((height - TIDY_TOP) / Math.max(1, scene.tree.height + 1.5), across), 0.5, 30);
  }
  return Math.min(most, height / Math.max(1, scene.height));
}

/** The unit height for a first look: all of it if rows stay readable, else a comfortable one at the newest end. */
export function firstUnit(scene: Scene, stage: Stage, drawing: Drawing = 'lanes'): number {
  const fit = fitUnit(scene, stage, drawing);
  if (drawing === 'tree') return Math.max(fit, 7);
  if (stage.phone) return 32;
  return fit >= 10.5 ? fit : 22;
}

/** The least and the largest unit height the wheel reaches. */
export function unitRange(scene: Scene, stage: Stage, drawing: Drawing): [number, number] {
  return [Math.min(8, fitUnit(scene, stage, drawing)), NEAREST];
}

/** How far the content reaches below the top, in px at this unit height. */
const extent = (scene: Scene, drawing: Drawing, unit: number): number => drawing === 'tree' ? (scene.tree.height + 1.5) * unit + TIDY_TOP : scene.height * unit;

/** Keeps a camera on the forest: content that fits stands at the top, else its edges can't be scrolled past. */
export function holdCamera(camera: Camera, scene: Scene, stage: Stage, drawing: Drawing): Camera {
  const [least, most] = unitRange(scene, stage, drawing);
  const unit = clamp(camera.unit, least, most);
  const beyond = extent(scene, drawing, unit) + MARGIN.top + MARGIN.bottom - stage.height;
  const top = clamp(camera.top, 0, Math.max(0, beyond / unit));
  const { pitch, lane0, label } = measure({ unit, top, left: 0 }, scene, stage, drawing);
  const across = drawing === 'tree' ? (scene.tree.width + 5) * unit + 2 * lane0 - stage.width : scene.lanes * pitch + lane0 - label;
  return { unit, top, left: clamp(camera.left, 0, Math.max(0, across)) };
}

/** The measures of the drawing for a camera. */
export function measure({ unit }: Camera, scene: Scene, stage: Stage, drawing: Drawing): Measures {
  const { width, phone } = stage;
  const strip = phone ? { x: width - 4 - 34, width: 34 } : { x: width - 10 - 54, width: 54 };
  const lane0 = phone ? 18 : 72;
  const most = Math.max(width * (phone ? 0.45 : 0.52), lane0 + 60) - lane0;
  const wished = phone ? 13 : lerp(21.5, 28, clamp((unit - 22) / (NEAREST - 22), 0, 1));
  const pitch = clamp(most / (scene.lanes + 0.5), 13, wished);
  const label = Math.min(lane0 + most, Math.max(lane0 + (scene.lanes + 0.5) * pitch, phone ? 147 : width * 0.4));
  const mode = drawing === 'tree' ? 'tree' : unit < STEMS_BELOW ? 'stems' : unit < 8 ? 'far' : unit < 18 ? 'fit' : unit < 30 || phone ? 'rows' : 'near';
  const radius = mode === 'far' || mode === 'stems' ? 2.5 : phone ? Math.min(5, unit * 0.46) : unit <= 11 ? Math.min(4.7, unit * 0.46) : lerp(4.7, 6, clamp((unit - 11) / 21, 0, 1));
  return { unit, pitch, lane0, label, tags: strip.x - 7, strip, radius: mode === 'tree' ? clamp(unit * 0.3, 1.5, 6) : radius, mode };
}

/** The camera that shows row unit `y` in the middle. */
export function lookAt(camera: Camera, y: number, stage: Stage): Camera {
  return { ...camera, top: y + (MARGIN.top - stage.height / 2) / camera.unit };
}
