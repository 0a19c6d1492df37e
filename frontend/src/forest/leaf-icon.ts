import { LEAVES } from './leaves';

const SVG = 'http://www.w3.org/2000/svg';

/** A leaf in its tree's lane colour, as an inline picture that screen readers skip. */
export function leafIcon(colour: number, leaf: number): SVGSVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  svg.setAttribute('class', `forest-leaf lane-${colour + 1}`);
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', LEAVES[leaf].path);
  svg.append(path);
  return svg;
}
