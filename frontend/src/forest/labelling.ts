import { MARGIN } from './camera';
import { inView, TWIG, type Frame } from './frame';
import { smallRadius } from './draw-stems';
import { stationRadius } from './draw-nodes';
import { placeLabels, placeNames, SPACING, type Box, type Name, type Wish } from './labels';
import { isFaint, type Marks } from './marks';
import { dayName, firstDayName, monthName, monthOf, rankOf, tagOf, whenWords } from './words';
import type { StandingDay, StandingLabel } from './draw';
import type { FreeText, LabelText } from './label-layer';
import type { DayLine, Placed } from './layout';
import type { Stem } from './stems';

/** Where labels stand for a unit height, in px from the first row; kept until something else than panning changes. */
export class LabelPlan {
  private key = '';
  private plan: [index: number, y: number][] = [];

  /** The labels of a frame; `version` changes with the scene and the marks. */
  labels(frame: Frame, marks: Marks, version: number): { standing: StandingLabel[]; texts: LabelText[] } {
    const key = `${version}/${frame.unit}/${frame.mode}`;
    if (key !== this.key) {
      this.key = key;
      this.plan = frame.mode === 'tree' || frame.mode === 'stems' ? [] : [...placeLabels(wishes(frame, marks))];
    }
    const standing: StandingLabel[] = [];
    const texts: LabelText[] = [];
    for (const [index, planned] of this.plan) {
      const state = frame.scene.states[index];
      // While rows move, labels move with them.
      const moved = frame.ys[index] - frame.yOf(state.y);
      const y = MARGIN.top + planned - frame.camera.top * frame.unit + moved;
      if (!inView(frame, y, 12)) continue;
      standing.push({ index, y, solid: isSolid(state, marks), faint: false });
      texts.push(textOf(frame, state, marks, y));
    }
    return { standing, texts };
  }
}

const isSolid = (state: Placed, marks: Marks): boolean =>
  state.parent < 0 || state.growing || marks.selected === state.index || marks.glows.has(state.index);

function wishes(frame: Frame, marks: Marks): Wish[] {
  const { scene, unit, mode } = frame;
  const wished: Wish[] = [];
  for (const row of scene.rows) {
    const state = scene.states[row.index];
    if (row.fold || isFaint(marks, scene, row.index)) continue;
    const rank = rankOf(state, marks);
    // Far away only the trees' names and what was chosen are worth words.
    if (mode === 'far' && (rank === null || rank > 3)) continue;
    wished.push({ key: row.index, y: row.y * unit, rank });
  }
  return wished;
}

function textOf(frame: Frame, state: Placed, marks: Marks, y: number): LabelText {
  const { index, row } = state;
  const station = state.parent < 0 && !state.growing;
  const chosen = marks.selected === index || state.growing || marks.aim === index;
  const lit = marks.onPath.has(index) || marks.glows.has(index);
  const second = frame.mode === 'near' && !state.growing ? [whenWords(row.time, frame.scene.zone), ...row.entities.slice(0, 4)].filter(Boolean).join(' · ') : '';
  return {
    key: row.id,
    topic: station ? state.topic : '',
    text: frame.mode === 'far' && station ? '' : row.label,
    tag: tagOf(state, marks),
    second,
    strong: chosen,
    ink: !marks.path || lit || chosen,
    y,
  };
}

/** Least distance between two names of days. */
const DAY_SPACING = 13;

/** The day lines of a frame, or the months' when days would be too close. */
export function daysOf(frame: Frame): { standing: StandingDay[]; texts: FreeText[] } {
  const { scene, unit, stage } = frame;
  const standing: StandingDay[] = [];
  const texts: FreeText[] = [];
  if (frame.mode === 'tree') return { standing, texts };
  const { zone } = scene;
  const byMonth = scene.days.length * DAY_SPACING * 1.5 > scene.height * unit;
  const lines = byMonth ? monthsOf(scene.days, zone) : scene.days;
  const x = frame.mode === 'stems' ? 22 : 16;
  let last = -Infinity;
  let before = lines.length ? monthOf(lines[0].time, zone) : 0;
  for (const line of lines) {
    const y = frame.yOf(line.y);
    const nameY = byMonth ? y + 14 : frame.yOf(line.nameY);
    if (nameY - last < (byMonth ? 16 : DAY_SPACING)) continue;
    last = nameY;
    const another = monthOf(line.time, zone) !== before;
    before = monthOf(line.time, zone);
    if (!inView(frame, y)) continue;
    const name = byMonth ? monthName(line.time, zone) : another ? firstDayName(line.time, zone) : dayName(line.time, zone);
    standing.push({ y, nameY, name: name.text });
    if (!stage.phone) texts.push({ key: `${line.time}`, text: name.text, bold: name.bold, x, y: nameY });
  }
  return { standing, texts };
}

function monthsOf(days: readonly DayLine[], zone: string): DayLine[] {
  return days.filter((day, i) => i === 0 || monthOf(day.time, zone) !== monthOf(days[i - 1].time, zone));
}

/** Characters of a name in the tree drawing. */
const LONGEST = 40;
const cut = (label: string): string => (label.length > LONGEST ? `${label.slice(0, LONGEST - 1).trimEnd()}…` : label);

/** More states than this are dots too small to keep clear of. */
const SPARSE = 1_000;

/** What names in the tree drawing keep clear of where they can: the nodes. */
function nodeBoxes(frame: Frame): Box[] {
  const { scene, xs, ys, radius } = frame;
  if (scene.states.length > SPARSE) return [];
  return scene.states.filter((s) => s.parent >= 0 && inView(frame, ys[s.index])).map(({ index: i }) => ({ x0: xs[i] - radius, y0: ys[i] - radius, x1: xs[i] + radius, y1: ys[i] + radius }));
}

/** Trees larger than this say how many states they have. */
const COUNTED = 60;

/** Names beside stations, for the drawings without a label column. */
export function namesOf(frame: Frame, marks: Marks, stems: readonly Stem[] | null, measure: (text: string) => number): FreeText[] {
  if (frame.mode !== 'stems' && frame.mode !== 'tree') return [];
  const { scene, xs, ys } = frame;
  const radius = (state: Placed): number => (frame.mode === 'stems' ? smallRadius(state.descendants) : stationRadius(frame));
  const names: Name[] = [];
  const stations: Box[] = [];
  const words = new Map<number, { bold: string; text: string }>();
  const wish = (state: Placed, size: number, bold: string, text: string): void => {
    if (isFaint(marks, scene, state.index) || words.has(state.index)) return;
    words.set(state.index, { bold, text });
    names.push({ key: state.index, x: xs[state.index], y: ys[state.index], width: measure(bold) + (text ? 6 + measure(text) : 0), size });
  };
  for (const root of scene.roots) {
    const state = scene.states[root];
    const r = radius(state);
    const [x, y] = [xs[root], ys[root]];
    if (!inView(frame, y)) continue;
    stations.push({ x0: x - r, y0: y - r, x1: x + r, y1: y + r });
    wish(state, state.descendants, state.growing ? state.row.label : state.topic, state.descendants >= COUNTED ? String(state.descendants + 1) : '');
  }
  if (frame.mode === 'tree') {
    for (const index of [marks.selected, ...marks.glows.keys()]) {
      const state = scene.states[index];
      if (state && state.parent >= 0) wish(state, 1e6, '', cut(state.row.label));
    }
  }
  const boxes = stems
    ? stems.filter((s) => !s.twig).map((s): Box => ({ x0: s.x - 4, y0: frame.yOf(0) + s.y0 + 14, x1: s.x + 4, y1: frame.yOf(0) + s.y1 }))
    : nodeBoxes(frame);
  const placed = placeNames(names, stations, boxes, frame.strip.x, frame.mode === 'stems' ? TWIG + 6 : stationRadius(frame) + 6, frame.mode === 'tree' ? [16, 22, 40] : []);
  return [...placed.values()].map(({ key, x, y }) => ({ key: String(scene.states[key].row.id), x, y: Math.max(y, SPACING / 2), ...(words.get(key) as { bold: string; text: string }) }));
}
