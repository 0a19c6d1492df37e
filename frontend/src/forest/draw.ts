import { paintDottedEdges, paintEdges, paintHalo, paintLitEdges } from './draw-edges';
import { paintBuds, paintGlows, paintLeaf, paintNodes } from './draw-nodes';
import { paintStems } from './draw-stems';
import type { Frame } from './frame';
import { FAINT, type Marks } from './marks';
import type { Palette } from './palette';
import type { Stem } from './stems';

type Ctx = CanvasRenderingContext2D;

/** A label that stands in the column: whose it is, where, and how its leader looks. */
export interface StandingLabel {
  index: number;
  y: number;
  solid: boolean;
  faint: boolean;
}

/** A day line in view. */
export interface StandingDay {
  y: number;
  nameY: number;
  name: string;
}

/** All that one picture needs. */
export interface Picture {
  frame: Frame;
  marks: Marks;
  palette: Palette;
  labels: readonly StandingLabel[];
  days: readonly StandingDay[];
  stems: readonly Stem[] | null;
}

/** Paints the whole drawing, back to front: day lines, leaders, halo, edges, buds, nodes. */
export function paint(ctx: Ctx, picture: Picture): void {
  const { frame, marks, palette, stems } = picture;
  const { stage } = frame;
  ctx.fillStyle = palette.paper;
  ctx.fillRect(0, 0, stage.width, stage.height);
  paintDays(ctx, picture);
  ctx.save();
  clipLanes(ctx, frame);
  paintLeaders(ctx, picture);
  paintHalo(ctx, frame, marks, palette);
  if (stems) {
    ctx.save();
    paintStems(ctx, frame, stems, marks, palette);
    ctx.restore();
  }
  if (frame.mode !== 'stems') {
    paintEdges(ctx, frame, marks, palette);
    paintLitEdges(ctx, frame, marks, palette);
    paintDottedEdges(ctx, frame, marks, palette);
    paintGlows(ctx, frame, marks, palette);
    paintBuds(ctx, frame, marks, palette);
    paintNodes(ctx, frame, marks, palette);
  } else {
    paintGlows(ctx, frame, marks, palette);
  }
  ctx.restore();
  paintLabelLeaves(ctx, picture);
}

/** Lanes that are panned sideways don't run under day names and labels. */
function clipLanes(ctx: Ctx, frame: Frame): void {
  if (frame.mode === 'tree' || frame.mode === 'stems') return;
  const wide = frame.scene.lanes * frame.pitch + frame.lane0 > frame.label + frame.pitch;
  if (!wide) return;
  ctx.beginPath();
  ctx.rect(frame.lane0 - 14, -20, frame.label - frame.lane0 + 6, frame.stage.height + 40);
  ctx.clip();
}

function paintDays(ctx: Ctx, { frame, days, palette }: Picture): void {
  if (frame.mode === 'tree' || frame.stage.phone) return;
  ctx.strokeStyle = palette.line;
  ctx.globalAlpha = 0.62;
  ctx.lineWidth = 1;
  ctx.beginPath();
  for (const { y } of days) {
    ctx.moveTo(0, Math.round(y) + 0.5);
    ctx.lineTo(frame.mode === 'stems' ? frame.stage.width : frame.strip.x, Math.round(y) + 0.5);
  }
  ctx.stroke();
  ctx.globalAlpha = 1;
}

/** Space between a leader and what it joins. */
const GAP = { node: 9, label: 10, bend: 20 } as const;

function paintLeaders(ctx: Ctx, { frame, labels, palette, marks }: Picture): void {
  if (frame.mode === 'tree' || frame.mode === 'stems') return;
  const { scene, xs, ys, label, radius } = frame;
  for (const { index, y, solid, faint } of labels) {
    const state = scene.states[index];
    const station = state.parent < 0 && !state.growing;
    const x0 = xs[index] + (station ? radius * 2.15 + 4 : radius + GAP.node + (scene.states[index].row.replaced ? 4 : 0));
    const x1 = label - GAP.label;
    if (x1 - x0 < 4) continue;
    ctx.strokeStyle = palette.lanes[state.colour];
    ctx.globalAlpha = faint ? FAINT : solid ? (frame.mode === 'far' ? 0.35 : 0.75) : marks.path && !marks.onPath.has(index) ? 0.42 : 0.5;
    ctx.lineWidth = 1.3;
    ctx.lineCap = solid ? 'butt' : 'round';
    if (!solid) ctx.setLineDash([0.01, 5]);
    ctx.beginPath();
    ctx.moveTo(x0, ys[index]);
    if (Math.abs(y - ys[index]) > 0.5) {
      ctx.lineTo(Math.max(x0, x1 - GAP.bend), ys[index]);
      ctx.lineTo(x1, y);
    } else ctx.lineTo(x1, ys[index]);
    ctx.stroke();
    ctx.setLineDash([]);
  }
  ctx.globalAlpha = 1;
}

function paintLabelLeaves(ctx: Ctx, { frame, labels, palette }: Picture): void {
  if (frame.mode === 'tree' || frame.mode === 'stems') return;
  for (const { index, y, faint } of labels) {
    const state = frame.scene.states[index];
    ctx.globalAlpha = faint ? FAINT : 1;
    paintLeaf(ctx, state.leaf, frame.label, y, 10, palette.lanes[state.colour]);
  }
  ctx.globalAlpha = 1;
}
