import { scaleLinear, type ScaleLinear } from 'd3-scale';
import { edge, edgeWidth } from './edges';
import { shortDate } from './words';
import type { Frame } from './frame';
import { MARGIN } from './camera';
import type { Scene } from './layout';
import type { Palette } from './palette';

type Ctx = CanvasRenderingContext2D;

/** Height of the "now" pill and of the room kept for it. */
export const PILL = { width: 48, height: 17, room: 24 } as const;

/** From row units to the strip's px and back: the whole forest in miniature. */
export function stripScale(scene: Scene, frame: Frame): ScaleLinear<number, number> {
  const most = frame.stage.height - MARGIN.top - PILL.room - 6;
  // A small forest isn't stretched: at most as tall as it is beside it.
  const length = Math.min(most, Math.max(40, scene.height * Math.min(22, Math.max(frame.unit, 2))));
  return scaleLinear().domain([0, Math.max(1, scene.height)]).range([MARGIN.top, MARGIN.top + length]);
}

/** Paints the forest in miniature; costs as much as a whole drawing, so the view keeps the picture. */
export function paintMiniature(ctx: Ctx, scene: Scene, frame: Frame, palette: Palette): void {
  const y = stripScale(scene, frame);
  const { strip } = frame;
  const unit = Math.abs(y(1) - y(0));
  const stems = scene.height > 700;
  const columns = stems ? scene.bands : scene.lanes;
  const pitch = Math.min(4.2, (strip.width - 12) / Math.max(1, columns - 1));
  const x = (index: number): number => {
    const state = scene.states[index];
    return 6 + (stems ? state.stem.band : state.lane) * pitch;
  };
  ctx.lineCap = 'butt';
  for (const state of scene.states) {
    if (state.growing) continue;
    ctx.strokeStyle = palette.lanes[state.colour];
    ctx.globalAlpha = 0.62;
    ctx.lineWidth = Math.min(2.2, edgeWidth(state.descendants) * 0.62);
    ctx.beginPath();
    if (state.parent < 0) {
      ctx.moveTo(x(state.index), y(state.y) - 1);
      ctx.lineTo(x(state.index), y(state.y) + 1);
    } else edge(ctx, x(state.parent), y(scene.states[state.parent].y), x(state.index), y(state.y), Math.max(unit, 2));
    ctx.stroke();
  }
  ctx.globalAlpha = 1;
}

/** The part of the strip that is in view, as px from top to bottom; null when all of it is. */
export function stripWindow(frame: Frame): [number, number] | null {
  const { camera, scene, stage, unit } = frame;
  const rows = (stage.height - MARGIN.top - MARGIN.bottom) / unit;
  if (frame.mode === 'tree' || rows >= scene.height - 0.01) return null;
  const y = stripScale(scene, frame);
  return [y(camera.top), Math.min(y(camera.top + rows), y(scene.height))];
}

/** Lays a veil over the rows whose days aren't looked at. */
export function paintOutside(ctx: Ctx, frame: Frame, outside: readonly [number, number][], palette: Palette): void {
  const y = stripScale(frame.scene, frame);
  ctx.globalAlpha = 0.76;
  ctx.fillStyle = palette.paper;
  for (const [from, to] of outside) ctx.fillRect(frame.strip.x, y(from), frame.strip.width, y(to) - y(from));
  ctx.globalAlpha = 1;
}

/** Paints the frame around what is in view and the "now" pill. */
export function paintStripMarks(ctx: Ctx, frame: Frame, asOf: number | null, palette: Palette): void {
  const { strip } = frame;
  const window = stripWindow(frame);
  if (window) {
    ctx.beginPath();
    ctx.roundRect(strip.x + 1, window[0] - 3, strip.width - 2, Math.max(16, window[1] - window[0] + 6), 8);
    ctx.globalAlpha = 0.06;
    ctx.fillStyle = palette.moss;
    ctx.fill();
    ctx.globalAlpha = 1;
    ctx.strokeStyle = palette.moss;
    ctx.lineWidth = 1.4;
    ctx.stroke();
  }
  const at = pillPlace(frame, asOf);
  if (asOf !== null) {
    ctx.strokeStyle = palette.moss;
    ctx.lineWidth = 1;
    ctx.beginPath();
    ctx.moveTo(strip.x, at);
    ctx.lineTo(strip.x + strip.width, at);
    ctx.stroke();
  }
  const width = Math.min(PILL.width, strip.width);
  ctx.fillStyle = palette.moss;
  ctx.beginPath();
  ctx.roundRect(strip.x + (strip.width - width) / 2, at, width, PILL.height, PILL.height / 2);
  ctx.fill();
  ctx.fillStyle = palette.onmoss;
  ctx.font = `650 12px ${palette.font}`;
  ctx.textAlign = 'center';
  ctx.textBaseline = 'alphabetic';
  ctx.fillText(asOf === null ? 'now' : dateAt(frame.scene, asOf), strip.x + strip.width / 2, at + 12.4, width - 6);
}

/** The day of the last turn up to a position. */
function dateAt(scene: Scene, position: number): string {
  const last = scene.states.filter((s) => !s.growing && s.row.position <= position).at(-1);
  return last ? shortDate(Date.parse(last.row.time), scene.zone) : 'before';
}

/** Upper edge of the "now" pill: below the newest row, or at the "as of" turn. */
export function pillPlace(frame: Frame, asOf: number | null): number {
  const { scene } = frame;
  const y = stripScale(scene, frame);
  if (asOf === null) return y(scene.height) + 5;
  let units = 0;
  for (const row of scene.rows) {
    if (scene.states[row.index].row.position > asOf) break;
    units = row.y + row.size / 2;
  }
  return y(units);
}
