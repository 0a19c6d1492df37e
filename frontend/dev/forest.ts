// Try the drawing alone: ?n=2000 grows a random forest, ?n=0 shows the promise, otherwise the written one.
import { ForestView } from '../src/forest/view';
import { grown, written, type Sample } from './sample';

declare global {
  interface Window {
    view: ForestView;
    sample: Sample;
    lightUp: (grow?: boolean) => void;
  }
}

const query = new URLSearchParams(location.search);
if (query.has('wide')) document.documentElement.dataset.wide = '';
const n = query.get('n');
const sample = n === null ? written() : grown(Number(n));
const view = new ForestView(document.getElementById('forest') as HTMLElement, {
  select: (id) => view.setSelection(id),
  asOf: (position) => view.setAsOf(position),
});
view.setStates(sample.rows, sample.trees, n === '0' ? null : sample.active);
window.view = view;
window.sample = sample;
window.lightUp = (grow = true) => {
  const { rows, named } = sample;
  const parent = named('Extractor hood: recirculating');
  const path: number[] = [];
  for (let id: number | null = parent; id; id = rows[id - 1].parent) path.unshift(id);
  view.setLocalized({
    path,
    second: null,
    candidates: [
      { state: parent, root: path[0], probability: 0.91, label: '' },
      { state: named('Steel preheats 45 minutes'), root: 1, probability: 0.05, label: '' },
      { state: named('Oak from which sawmill'), root: path[0], probability: 0.03, label: '' },
    ],
  });
  view.setSelection(parent);
  if (grow) view.setGrowing({ parent, label: 'Could the oven go on the window wall, then?' });
};
