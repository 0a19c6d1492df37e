import { paintEdges } from './draw-edges';
import { paintBuds, paintNodes, paintStation } from './draw-nodes';
import { frameOf, type Frame } from './frame';
import { layoutForest, type Scene } from './layout';
import { noMarks } from './marks';
import { withAlpha, type Palette } from './palette';
import type { Stage } from './camera';
import type { StateRow, TreeRow } from './types';

/** The made-up forest of an empty page, as "tree parent" per turn; a parent counts turns from 0, a dash plants a tree. */
const TURNS =
  '0 - 0 0 0 1 0 2 0 3 1 - 1 5 1 6 1 7 2 - 2 9 2 10 1 6 1 12 3 - 3 14 3 15 3 16 1 8 2 11 2 19 2 20 3 16 3 22 3 23 1 13 1 25 1 26 1 18 0 4 0 29 3 17 3 31 1 12 0 30 1 28 1 35 3 17 3 37 2 20 1 27 1 40 1 41 3 24 3 43 3 32 0 34 0 46 2 21 2 48 2 49 1 33 2 50 3 38 3 45 1 36 1 55 0 30 0 57 1 42 2 52 2 60 0 47 0 62';

function rows(): StateRow[] {
  const numbers = TURNS.split(' ');
  const made: StateRow[] = [];
  const first = new Map<string, number>();
  for (let i = 0; i < numbers.length; i += 2) {
    const id = i / 2;
    const tree = numbers[i];
    const parent = numbers[i + 1] === '-' ? null : Number(numbers[i + 1]);
    if (parent === null) first.set(tree, id);
    made.push({
      id,
      turn: null,
      position: id,
      parent,
      root: first.get(tree) ?? id,
      depth: 0,
      time: '',
      label: '',
      facts: 0,
      list: id % 17 === 9 ? 3 : 0,
      replaced: id % 23 === 6,
      new_value: id % 23 === 21,
      pending: false,
      unsure: false,
      moved_from: null,
      second: null,
      entities: [],
    });
  }
  return made;
}

let scene: Scene | null = null;

/** The made-up forest, laid out to fill the stage. */
function promiseFrame(stage: Stage): Frame {
  const all = rows();
  const trees: TreeRow[] = [...new Set(all.map((r) => r.root))].map((root, order) => ({ root, order, topic: '', variants: [] }));
  scene ??= layoutForest(all, trees, { fold: false });
  const top = 105;
  const unit = Math.max(6, Math.min(15, (stage.height - top - 60) / scene.height));
  const frame = frameOf(scene, { unit: Math.max(unit, 8), top: 0, left: 0 }, stage, 'lanes');
  const left = stage.phone ? 40 : Math.max(60, stage.width * 0.17);
  const pitch = Math.min(62, (stage.width - left - 40) / Math.max(1, scene.lanes - 1));
  for (const state of scene.states) {
    frame.xs[state.index] = left + state.lane * pitch;
    frame.ys[state.index] = top + (state.y - scene.states[0].y) * unit;
  }
  return { ...frame, mode: 'rows', radius: 5, unit };
}

/** Paints the pale forest that an empty page promises, and its first station; returns where the sentence stands. */
export function paintPromise(ctx: CanvasRenderingContext2D, stage: Stage, palette: Palette): { x: number; y: number } {
  const frame = promiseFrame(stage);
  const marks = noMarks();
  ctx.fillStyle = palette.paper;
  ctx.fillRect(0, 0, stage.width, stage.height);
  paintEdges(ctx, frame, marks, palette);
  paintBuds(ctx, frame, marks, palette);
  paintNodes(ctx, frame, marks, palette);
  // A veil of paper, thicker toward the bottom: what isn't planted yet is only hinted at.
  const veil = ctx.createLinearGradient(0, 0, 0, stage.height);
  veil.addColorStop(0, withAlpha(palette.paper, 0.74));
  veil.addColorStop(0.9, withAlpha(palette.paper, 0.93));
  ctx.fillStyle = veil;
  ctx.fillRect(0, 0, stage.width, stage.height);
  const x = frame.xs[0];
  const y = frame.ys[0];
  paintStation(ctx, x, y, 18, palette.moss, 0, palette.paper);
  return { x: x - 18, y: y - 52 };
}
