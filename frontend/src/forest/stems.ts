import { edgeWidth } from './edges';
import type { Frame } from './frame';

/**
 * One stem or twig of the far drawing: a run of states on one lane of a band, swollen where weeks were busy. Heights
 * count in px from the first row, so that panning keeps them.
 */
export interface Stem {
  colour: number;
  x: number;
  y0: number;
  y1: number;
  twig: boolean;
  /** Half-widths, one per px from y0 on. */
  half: Float32Array;
  /** Where it leaves its parent; null for a trunk's own start. */
  from: { x: number; y: number } | null;
  /** Indexes of its states, top to bottom. */
  members: number[];
}

/** Half the reach of the bell that one state adds to its stem's width, in px. */
const BELL = 6;
const REACH = 14;
const KERNEL = Float32Array.from({ length: 2 * REACH + 1 }, (_, i) => Math.exp(-(((i - REACH) / BELL) ** 2)));

/** Gathers the states of a far drawing into stems: half-width .65 + min(8, 1.25·√Σexp(−((y − yᵢ)/6)²)), twigs × .62. */
export function gatherStems(frame: Frame): Stem[] {
  const { scene, xs } = frame;
  const origin = frame.yOf(0);
  const ys = frame.ys.map((y) => y - origin);
  const stems: Stem[] = [];
  const stemOf = new Int32Array(scene.states.length).fill(-1);
  for (const state of scene.states) {
    if (state.growing) continue;
    const { parent, index } = state;
    const above = parent < 0 ? null : scene.states[parent];
    const goesOn = above !== null && above.stem.band === state.stem.band && above.stem.twig === state.stem.twig;
    let stem = goesOn ? stemOf[parent] : -1;
    if (stem < 0) {
      stem = stems.length;
      const from = parent < 0 ? null : { x: xs[parent], y: ys[parent] };
      stems.push({ colour: state.colour, x: xs[index], y0: ys[index], y1: ys[index], twig: state.stem.twig !== 0, half: new Float32Array(0), from, members: [] });
    }
    stemOf[index] = stem;
    stems[stem].members.push(index);
    stems[stem].y1 = ys[index];
  }
  for (const stem of stems) stem.half = halfWidths(stem, ys);
  return stems;
}

function halfWidths({ y0, y1, members, twig }: Stem, ys: Float64Array): Float32Array {
  const length = Math.max(1, Math.ceil(y1 - y0) + 1);
  const counts = new Float32Array(length);
  for (const index of members) counts[Math.min(length - 1, Math.round(ys[index] - y0))]++;
  const half = new Float32Array(length);
  for (let i = 0; i < length; i++) {
    if (!counts[i]) continue;
    const low = Math.max(0, i - REACH);
    const high = Math.min(length - 1, i + REACH);
    for (let j = low; j <= high; j++) half[j] += counts[i] * KERNEL[j - i + REACH];
  }
  for (let i = 0; i < length; i++) half[i] = (0.65 + Math.min(8, 1.25 * Math.sqrt(half[i]))) * (twig ? 0.62 : 1);
  return half;
}

/** Keeps the stems of a zoom while the eye only pans. */
export class StemCache {
  private key = '';
  private stems: Stem[] = [];

  /** The stems of a frame, gathered anew if the scene, the zoom or the width changed, or states are sliding. */
  of(frame: Frame, version: number): Stem[] {
    const key = [version, frame.unit, frame.stage.width, frame.camera.left].join();
    if (key === this.key && !frame.moving) return this.stems;
    this.key = frame.moving ? '' : key;
    return (this.stems = gatherStems(frame));
  }
}

/** Width of the thread by which a twig hangs on its stem. */
export const threadWidth = (stem: Stem): number => Math.min(1.6, edgeWidth(stem.members.length) * 0.6);
