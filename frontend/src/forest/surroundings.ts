/** Calls back when the element's size or the page's theme changes, or the fonts are there; returns how to stop. */
export function watchSurroundings(element: HTMLElement, on: { resize(): void; theme(): void }): () => void {
  const resized = new ResizeObserver(() => on.resize());
  resized.observe(element);
  const themed = new MutationObserver(() => on.theme());
  themed.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme', 'class'] });
  const theme = (): void => on.theme();
  const dark = matchMedia('(prefers-color-scheme: dark)');
  dark.addEventListener('change', theme);
  void document.fonts?.ready.then(theme);
  return () => {
    resized.disconnect();
    themed.disconnect();
    dark.removeEventListener('change', theme);
  };
}
