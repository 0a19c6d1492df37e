import { MARGIN, measure, TIDY_TOP, type Measures, type Stage } from './camera';
import type { Scene } from './layout';
import { clamp } from './numbers';
import type { Camera, Drawing } from './types';

/** Where everything is on the screen for one camera: the only thing the painter and the hit test look at. */
export interface Frame extends Measures {
  stage: Stage;
  camera: Camera;
  scene: Scene;
  drawing: Drawing;
  /** Place of every state in CSS px, by index. */
  xs: Float64Array;
  ys: Float64Array;
  /** CSS px of a height in row units. */
  yOf(units: number): number;
  /** Width of a band of the stems. */
  band: number;
  /** The strip is left out where it would only repeat the drawing. */
  stripShown: boolean;
  /** States are on their way from an earlier layout. */
  moving: boolean;
}

/** Distance of twigs within a band. */
export const TWIG = 7.5;

/** Places every state for a camera. */
export function frameOf(scene: Scene, camera: Camera, stage: Stage, drawing: Drawing): Frame {
  const m = measure(camera, scene, stage, drawing);
  const n = scene.states.length;
  const allInView = scene.height * camera.unit <= stage.height - MARGIN.top - MARGIN.bottom + 1;
  const stripShown = m.mode !== 'tree' && !(m.mode === 'stems' && allInView);
  const xs = new Float64Array(n);
  const ys = new Float64Array(n);
  const yOf = (units: number): number => MARGIN.top + (units - camera.top) * camera.unit;
  const left = stage.phone ? 30 : 110;
  // A tidy drawing narrower than the stage stands in its middle.
  const tidyLeft = Math.max(m.lane0, (stage.width - (scene.tree.width + 3) * camera.unit) / 2);
  const band = clamp((m.strip.x - left - 80) / Math.max(1, scene.bands - 1), 28, 68);
  for (let i = 0; i < n; i++) {
    const state = scene.states[i];
    if (m.mode === 'tree') {
      xs[i] = tidyLeft + state.tree.x * camera.unit - camera.left;
      ys[i] = yOf(state.tree.y + 0.95) + TIDY_TOP;
    } else if (m.mode === 'stems') {
      xs[i] = left + 40 + state.stem.band * band + clamp(state.stem.twig * TWIG, -band / 2, band / 2) - camera.left;
      ys[i] = yOf(state.y);
    } else {
      xs[i] = m.lane0 + state.lane * m.pitch - camera.left;
      ys[i] = yOf(state.y);
    }
  }
  return { ...m, stage, camera, scene, drawing, xs, ys, yOf, band, stripShown, moving: false };
}

/** Whether a height on the screen is in view, with some room around. */
export const inView = (frame: Frame, y: number, room = 40): boolean => y >= -room && y <= frame.stage.height + room;
