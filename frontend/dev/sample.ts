// Made-up forests to look at while drawing. Not part of the page.
import type { StateRow, TreeRow } from '../src/forest/types';

/** Turns of a week or two of Ines: tree, branch key, what it goes on from ('' = own branch), label, day of March, marks. */
type Turn = [tree: string, branch: string, from: string, label: string, day: number, marks?: Partial<StateRow>];

const TURNS: Turn[] = [
  ['S', 'S', '', 'Reviving a starter left three weeks', 2],
  ...['Feed it twice a day', 'Rye or wheat flour', 'It floats', 'Jar and lid', 'Room at 21 degrees', 'Smell of apples'].map((l): Turn => ['S', 'S', '', l, 2]),
  ['K', 'K', '', 'Where to start with a 9 m² galley kitchen', 2],
  ['K', 'K', '', 'Keep the sink under the window', 2],
  ['K', 'K', '', 'Two walls or three', 2],
  ['K', 'K', '', 'Budget is €18,000, appliances included', 2, { replaced: true, facts: 1 }],
  ['L', 'L', '', 'Talk accepted: Small Data Days in Lisbon', 3],
  ['L', 'L', '', 'Abstract in a hundred words', 3],
  ['L', 'L', '', 'Title without a colon', 3],
  ['K', 'K2', 'Keep the sink under the window', 'Doors or drawers below the counter', 3],
  ['K', 'K2', '', 'Corner carousel or dead corner', 3],
  ['Y', 'Y', '', 'Nora’s exchange with Lyon in spring', 4],
  ['Y', 'Y', '', 'Host family Moreau, two boys, a dog', 4, { facts: 2 }],
  ['Y', 'Y', '', 'Allergies to mention', 4],
  ['Y', 'Y', '', 'Phone and roaming', 4],
  ['K', 'K', '', 'Three fitters to ask for quotes', 4, { list: 3 }],
  ['L', 'L', '', 'Outline in five beats', 5, { list: 5 }],
  ['L', 'L', '', 'What to cut', 5],
  ...['Chart of the survey', 'One number per slide', 'Colours for the hall', 'Fonts at the back row'].map((l): Turn => ['L', 'L', '', l, 5]),
  ['Y', 'Y2', 'Allergies to mention', 'Train or plane to Lyon', 5],
  ['Y', 'Y2', '', 'Seat by the window', 5],
  ['Y', 'Y2', '', 'Leaving 9 March, coach 8', 5, { replaced: true }],
  ['K', 'K2', '', 'Does oak warp beside a dishwasher?', 6],
  ['K', 'K2', '', 'Sealed edges', 6],
  ['K', 'K2', '', 'Oil or lacquer', 6],
  ['K', 'K', '', 'First quote: €11,400 without worktop', 6],
  ['S', 'S', '', 'First loaf: flat', 7],
  ['S', 'S', '', 'Longer bulk', 7],
  ['Y', 'Y', '', 'Packing list for three weeks', 7, { list: 12 }],
  ['Y', 'Y', '', 'A raincoat or an umbrella', 7],
  ['K', 'K3', 'Doors or drawers below the counter', 'Fridge next to the door', 7, { moved_from: -2 }],
  ...['Rye at ten percent', 'Banneton or bowl', 'Scoring'].map((l): Turn => ['S', 'S', '', l, 8]),
  ['S', 'S2', 'First loaf: flat', 'Steel instead of a stone', 9],
  ['K', 'K', '', 'Budget is €21,500 now, appliances apart', 9, { new_value: true, facts: 1 }],
  ['K', 'K', '', 'Who pays the electrician', 9],
  ['Y', 'Y3', 'Phone and roaming', 'A gift for the Moreaus', 9],
  ['Y', 'Y3', '', 'Chestnut honey', 9],
  ['L', 'L2', 'What to cut', 'Speaker dinner: yes', 10],
  ['K', 'K2', '', 'Quartz or oak', 10],
  ['K', 'K2', '', 'Worktop 38 mm', 10, { facts: 1 }],
  ['K', 'K2', '', 'Quartz sample feels cold: oak it is', 10],
  ['Y', 'Y2', '', 'Leaving 12 March instead', 11, { new_value: true }],
  ['Y', 'Y2', '', 'Refund for the seat', 11],
  ['Y', 'Y', '', 'Luggage limit 24 kg', 11],
  ['S', 'S2', '', 'How long does dough rest?', 12],
  ['S', 'S2', '', '24 hours in the fridge', 12],
  ['L', 'L', '', '24 slides for 25 minutes', 12],
  ['L', 'L', '', 'Timing run: 27 minutes', 12],
  ['L', 'L', '', 'Is 24 enough, then?', 12, { unsure: true, second: -3 }],
  ['K', 'K3', '', 'Extractor hood: recirculating', 12, { facts: 2, entities: ['Bosch', 'Nora'] }],
  ['L', 'L', '', 'Three opening lines', 13, { list: 3 }],
  ['Y', 'Y3', '', 'Emergency numbers in Lyon', 13],
  ['Y', 'Y', '', 'Repack for rain', 13],
  ['K', 'K', '', 'Second quote: €12,950 with worktop', 13],
  ['K', 'K', '', 'Both quotes compared', 13],
  ['S', 'S', '', 'A soaker for the rye', 14],
  ['S', 'S', '', 'Scald at 65 °C', 14],
  ['K', 'K2', '', 'Oak from which sawmill', 14],
  ['L', 'L', '', 'Rehearse on Nora', 14],
  ['L', 'L', '', 'Shorter speaker notes', 14],
  ['S', 'S2', '', 'Steam, or the lid', 15],
  ['S', 'S2', '', 'Steel preheats 45 minutes', 15, { pending: true }],
];
const TREES: Record<string, [topic: string, order: number]> = { K: ['Kitchen', 0], S: ['Sourdough', 1], L: ['Lisbon talk', 2], Y: ['Lyon exchange', 3] };

/** A forest as the page would get it. */
export interface Sample {
  rows: StateRow[];
  trees: TreeRow[];
  active: number;
  named: (label: string) => number;
}

/** The written forest of the pictures. */
export function written(): Sample {
  const rows: StateRow[] = [];
  const tips = new Map<string, number>();
  const roots = new Map<string, number>();
  const named = (label: string): number => rows.find((r) => r.label === label)?.id ?? 0;
  TURNS.forEach(([tree, branch, from, label, day, marks], i) => {
    const id = i + 1;
    const parent = from ? named(from) : (tips.get(branch) ?? null);
    if (parent === null) roots.set(tree, id);
    tips.set(branch, id);
    rows.push(row(id, parent, roots.get(tree) ?? id, label, new Date(2026, 2, day, 8 + (i % 9), (i * 7) % 60), marks));
  });
  for (const r of rows) {
    if (r.second === -3) r.second = named('24 hours in the fridge');
    if (r.moved_from === -2) r.moved_from = named('Three fitters to ask for quotes');
  }
  const trees = [...roots].map(([key, root]) => ({ root, order: TREES[key][1], topic: TREES[key][0], variants: [] }));
  return { rows, trees, active: rows[rows.length - 1].id, named };
}

function row(id: number, parent: number | null, root: number, label: string, time: Date, marks: Partial<StateRow> = {}): StateRow {
  return { id, turn: id, position: id, parent, root, depth: 0, time: time.toISOString(), label, facts: 0, list: 0, replaced: false, new_value: false, pending: false, unsure: false, moved_from: null, second: null, entities: [], ...marks };
}

const TOPICS = 'Kitchen,Sourdough,Lyon exchange,Lisbon talk,Pension letters,Running plan,Mum’s knee,Book club,Balcony tomatoes,Bike repair,Thesis reader,Nora’s maths,Car or no car,Old photos,Migraine diary,Piano again,Garden shed,Birthday at the lake,Choir autumn,New glasses,Letting the flat,Cat and vet,Conference visas,Wood stove,Spanish hour,Insulation grant,Team offsite,Paper on caches,Sleep,Compost,Tax return'.split(',');

/** A random forest of people's habits: a few matters take most turns, mostly going on where they left off. */
export function grown(n: number, seed = 7): Sample {
  let s = seed;
  const random = (): number => (s = (s * 1664525 + 1013904223) % 4294967296) / 4294967296;
  const rows: StateRow[] = [];
  const trees: TreeRow[] = [];
  const tips: { root: number; tips: number[]; weight: number }[] = [];
  let time = Date.UTC(2026, 2, 1, 8);
  let current = -1;
  for (let id = 1; id <= n; id++) {
    time += random() < 0.8 ? 4e5 * random() : 2.2e7 * random() * (2000 / Math.max(n, 500));
    const plant = tips.length === 0 || random() < 26 / n / (1 + tips.length / 40);
    if (plant) {
      const order = trees.length;
      trees.push({ root: id, order, topic: TOPICS[order % TOPICS.length], variants: [] });
      tips.push({ root: id, tips: [id], weight: random() ** 4 });
      rows.push(row(id, null, id, `${TOPICS[order % TOPICS.length]}, first thoughts`, new Date(time)));
      current = tips.length - 1;
      continue;
    }
    if (random() < 0.3) {
      const total = tips.reduce((a, t) => a + t.weight + 0.004, 0);
      let pick = random() * total;
      current = tips.findIndex((t) => (pick -= t.weight + 0.004) < 0);
    }
    const tree = tips[Math.max(0, current)];
    let tip = Math.max(0, tree.tips.length - 1 - Math.floor(random() ** 3 * Math.min(4, tree.tips.length)));
    let parent = tree.tips[tip];
    if (random() < 0.028) {
      for (let back = Math.floor(random() * 8); back > 0; back--) parent = rows[parent - 1].parent ?? parent;
      tip = tree.tips.push(id) - 1;
    }
    tree.tips[tip] = id;
    const mark = random();
    rows.push(row(id, parent, tree.root, `Turn ${id} about ${trees.find((t) => t.root === tree.root)?.topic ?? ''}`, new Date(time), { list: mark < 0.03 ? 4 : 0, replaced: mark > 0.97, new_value: mark > 0.94 && mark < 0.97, facts: Math.floor(mark * 3) }));
  }
  return { rows, trees, active: n, named: (label) => rows.find((r) => r.label === label)?.id ?? 0 };
}
