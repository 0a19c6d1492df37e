/** A small card with a quote, for every element that carries `data-quote`: after a moment of pointing, or at once on focus. */

const DELAY = 120;
const GAP = 8;

export function installHoverCard(): void {
  const card = document.createElement('div');
  card.className = 'hover-card';
  card.id = 'hover-card';
  card.setAttribute('role', 'tooltip');
  card.hidden = true;
  card.dir = 'auto';
  document.body.append(card);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let owner: Element | null = null;

  const hide = () => {
    clearTimeout(timer);
    card.hidden = true;
    card.textContent = '';
    owner?.removeAttribute('aria-describedby');
    owner = null;
  };
  const show = (target: Element) => {
    const quote = target.getAttribute('data-quote');
    if (!quote) return;
    card.textContent = `“${quote}”`;
    card.hidden = false;
    const box = target.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = card;
    const left = Math.max(GAP, Math.min(box.left, innerWidth - width - GAP));
    const above = box.top - height - GAP;
    card.style.setProperty('left', `${left}px`);
    card.style.setProperty('top', `${above > GAP ? above : box.bottom + GAP}px`);
    owner = target;
    target.setAttribute('aria-describedby', card.id);
  };
  const from = (event: Event) => (event.target as Element | null)?.closest?.('[data-quote]') ?? null;

  document.addEventListener('pointerover', (event) => {
    const target = from(event);
    if (target === owner) return;
    hide();
    if (target) timer = setTimeout(() => show(target), DELAY);
  });
  document.addEventListener('focusin', (event) => {
    const target = from(event);
    hide();
    if (target?.matches(':focus-visible')) show(target);
  });
  document.addEventListener('focusout', hide);
  document.addEventListener('scroll', hide, true);
  document.addEventListener('keydown', (event) => event.key === 'Escape' && hide());
}
