/** A leaf shape: its botanical name and its outline in a 24 × 24 box, one path for canvas and SVG alike. */
export interface LeafShape {
  name: string;
  path: string;
}

const circle = (cx: number, cy: number, r: number): string =>
  `M${cx - r} ${cy}a${r} ${r} 0 1 1 ${2 * r} 0a${r} ${r} 0 1 1 ${-2 * r} 0Z`;

/** The twelve leaves, in the order in which trees are planted. Each has its own silhouette at 10 px. */
export const LEAVES: readonly LeafShape[] = [
  { name: 'oval', path: 'M12 .8C16.4 4.6 18 8.4 18 12S16.4 19.4 12 23.2C7.6 19.4 6 15.6 6 12S7.6 4.6 12 .8Z' },
  {
    name: 'ginkgo fan',
    path: 'M10.9 23V15.8C6 15.4 1.9 12.4.8 7.6C3 3.6 8 1.8 10.9 3.2L12 7.4L13.1 3.2C16 1.8 21 3.6 23.2 7.6C22.1 12.4 18 15.4 13.1 15.8V23Z',
  },
  { name: 'trefoil', path: `${circle(12, 6, 5)}${circle(6, 13.6, 5)}${circle(18, 13.6, 5)}${circle(12, 11.6, 3.4)}M10.8 11H13.2V23H10.8Z` },
  {
    name: 'oak',
    path: 'M12 .8C14.6 .8 16 2.8 15.4 4.9C17.8 4.3 19.6 6 19.2 8.1C19 9.1 18.4 9.9 17.6 10.3C20.2 10.3 21.8 12.3 21.2 14.3C20.6 16.5 18.1 17.1 16.2 16.2C16.3 18 15 19.3 13.2 19.3V23.2H10.8V19.3C9 19.3 7.7 18 7.8 16.2C5.9 17.1 3.4 16.5 2.8 14.3C2.2 12.3 3.8 10.3 6.4 10.3C5.6 9.9 5 9.1 4.8 8.1C4.4 6 6.2 4.3 8.6 4.9C8 2.8 9.4 .8 12 .8Z',
  },
  { name: 'slanted blade', path: 'M1.6 22.4C2 10.4 9 2.4 22.4 1.6C21.8 14.6 13.8 22 1.6 22.4Z' },
  {
    name: 'maple',
    path: 'M12 .6L14.6 5.8L17.6 4.4L16.8 10L20.2 7.4L20.8 10L23.6 10.6L20 14.4L20.8 16.4L13.1 17.6V23.4H10.9V17.6L3.2 16.4L4 14.4L.4 10.6L3.2 10L3.8 7.4L7.2 10L6.4 4.4L9.4 5.8Z',
  },
  { name: 'arrowhead', path: 'M12 .8L22 22.4C17.6 22 14.2 19.4 12 14.8C9.8 19.4 6.4 22 2 22.4Z' },
  { name: 'lily pad', path: 'M12 12.6L16.6 2.2A10.8 10.8 0 1 1 7.4 2.2Z' },
  { name: 'pine', path: 'M12 .6L17.4 8H14.8L19.8 14.2H16.4L22 20.4H13.2V23.4H10.8V20.4H2L7.6 14.2H4.2L9.2 8H6.6Z' },
  { name: 'willow', path: 'M17.6 .6C8.6 5.4 5.4 15.2 8.2 23.4C14.8 18 18.4 9.4 17.6 .6Z' },
  {
    name: 'twin blades',
    path: 'M11.3 23C3.4 19.4 .6 10.8 2.4 2C9 5.4 12.6 13.2 11.3 23ZM12.7 23C20.6 19.4 23.4 10.8 21.6 2C15 5.4 11.4 13.2 12.7 23Z',
  },
  { name: 'drop', path: 'M12 .8C15.2 7 20.2 10.4 20.2 15.4A8.2 8 0 0 1 3.8 15.4C3.8 10.4 8.8 7 12 .8Z' },
];

/** Which of the twelve lane colours a tree has (0–11), from its order of planting. */
export const colourOf = (order: number): number => order % 12;

/** Which leaf a tree has (0–11): shifted by one every twelve trees, so a pair returns only after 144. */
export const leafOf = (order: number): number => (order + Math.floor(order / 12)) % 12;
