import { describe, expect, it } from 'vitest';
import { firstUnit, fitUnit, holdCamera, lookAt, MARGIN, measure, NEAREST } from './camera';
import { frameOf } from './frame';
import { layoutForest } from './layout';
import { madeUp } from './testing';

const stage = { width: 624, height: 814, phone: false };
const forest = (n: number) => {
  const { rows, trees } = madeUp(n, 11);
  return layoutForest(rows, trees, { fold: false });
};

describe('the camera', () => {
  it('starts with all of a small forest in view, and near enough to read in a large one', () => {
    expect(firstUnit(forest(10), stage)).toBe(22);
    expect(firstUnit(forest(65), stage)).toBeCloseTo(fitUnit(forest(65), stage));
    expect(firstUnit(forest(400), stage)).toBe(22);
    expect(firstUnit(forest(400), { ...stage, phone: true })).toBe(32);
  });

  it('never scrolls past the forest', () => {
    const scene = forest(200);
    expect(holdCamera({ unit: 22, top: -50, left: -9 }, scene, stage, 'lanes')).toEqual({ unit: 22, top: 0, left: 0 });
    const low = holdCamera({ unit: 22, top: 1e6, left: 0 }, scene, stage, 'lanes');
    const bottom = MARGIN.top + (scene.height - low.top) * 22;
    expect(bottom).toBeCloseTo(stage.height - MARGIN.bottom);
    expect(holdCamera({ unit: 1e4, top: 0, left: 0 }, scene, stage, 'lanes').unit).toBe(NEAREST);
  });

  it('is the same after being held twice', () => {
    const scene = forest(300);
    for (const camera of [{ unit: 30, top: 100, left: 40 }, { unit: 0.01, top: 5, left: 5 }, { unit: 9, top: 1e5, left: 1e5 }]) {
      const once = holdCamera(camera, scene, stage, 'lanes');
      expect(holdCamera(once, scene, stage, 'lanes')).toEqual(once);
    }
  });

  it('looks at a row in the middle', () => {
    const scene = forest(200);
    const frame = frameOf(scene, lookAt({ unit: 22, top: 0, left: 0 }, 90, stage), stage, 'lanes');
    expect(frame.yOf(90)).toBeCloseTo(stage.height / 2);
  });

  it('keeps the lane pitch between 13 and 28 and the label column clear of the lanes', () => {
    for (const n of [5, 60, 300]) {
      for (const unit of [8, 22, 44]) {
        const scene = forest(n);
        const { pitch, label, lane0, strip } = measure({ unit, top: 0, left: 0 }, scene, stage, 'lanes');
        expect(pitch).toBeGreaterThanOrEqual(13);
        expect(pitch).toBeLessThanOrEqual(28);
        expect(label).toBeGreaterThan(lane0);
        expect(label).toBeLessThan(strip.x - 100);
      }
    }
  });

  it('changes what is drawn by unit height', () => {
    const scene = forest(50);
    const mode = (unit: number) => measure({ unit, top: 0, left: 0 }, scene, stage, 'lanes').mode;
    expect([1, 5, 11, 22, 40].map(mode)).toEqual(['stems', 'far', 'fit', 'rows', 'near']);
  });
});
