/** The leaf of a tree, in its colour, small enough for a line of text. */

import { html, nothing, type TemplateResult } from 'lit-html';
import { colourOf, leafOf as shapeOf, LEAVES } from '../forest/leaves';
import type { TreeRow } from '../types';

export const leafOf = (tree: Pick<TreeRow, 'order'> | undefined, size = 14): TemplateResult | typeof nothing =>
  tree
    ? html`<svg class="leaf tint-${colourOf(tree.order) + 1}" viewBox="0 0 24 24" width=${size} height=${size} aria-hidden="true"><path d=${LEAVES[shapeOf(tree.order)]!.path}/></svg>`
    : nothing;
