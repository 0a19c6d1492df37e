/** The colours the painter uses, read from the page's tokens so that a theme is written once, in CSS. */
export interface Palette {
  paper: string;
  leaf: string;
  sunk: string;
  line: string;
  ink: string;
  ink2: string;
  ink3: string;
  moss: string;
  mossbg: string;
  onmoss: string;
  lanes: string[];
  /** Edges keep this much while another path is lit. */
  dim: number;
  /** Strength of the lit path's halo. */
  halo: number;
  font: string;
}

/** Reads the palette that holds for an element now. */
export function readPalette(element: Element): Palette {
  const style = getComputedStyle(element);
  const token = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    paper: token('paper'),
    leaf: token('leaf'),
    sunk: token('sunk'),
    line: token('line'),
    ink: token('ink'),
    ink2: token('ink2'),
    ink3: token('ink3'),
    moss: token('moss'),
    mossbg: token('mossbg'),
    onmoss: token('onmoss'),
    lanes: Array.from({ length: 12 }, (_, i) => token(`lane-${i + 1}`)),
    dim: Number(token('dim')) || 0.66,
    halo: Number(token('halo')) || 0.2,
    font: token('font') || 'sans-serif',
  };
}

/** A colour with an alpha, for gradients (the tokens are six-digit hex). */
export function withAlpha(hex: string, alpha: number): string {
  const value = Math.round(Math.max(0, Math.min(1, alpha)) * 255);
  return /^#[0-9a-f]{6}$/i.test(hex) ? hex + value.toString(16).padStart(2, '0') : hex;
}
