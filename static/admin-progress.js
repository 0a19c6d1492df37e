/* While work is open, its progress is fetched again and put in place of the old; once it is over, the page stands still. */
(() => {
  const EVERY = 1000;
  const shown = () => document.getElementById('progress');
  const copy = (id, from) => {
    const [here, there] = [document.getElementById(id), from.getElementById(id)];
    if (!here || !there) return;
    if (here instanceof HTMLProgressElement) Object.assign(here, { max: there.max, value: there.value });
    else if (here.textContent !== there.textContent) here.textContent = there.textContent;
  };
  const look = async () => {
    const here = shown();
    if (!here || here.dataset.open !== 'true') return;
    try {
      const answer = document.hidden ? null : await fetch(location.href, { credentials: 'same-origin' });
      const page = answer?.ok && !answer.redirected ? new DOMParser().parseFromString(await answer.text(), 'text/html') : null;
      const there = page?.getElementById('progress');
      if (there && there.dataset.open === 'true') for (const id of ['progress-heading', 'progress-bar', 'progress-words', 'progress-message']) copy(id, page);
      else if (there) {
        there.setAttribute('role', 'status');
        here.replaceWith(document.adoptNode(there));
      }
    } catch {
      /* The server is away for a moment: the next look tells. */
    }
    setTimeout(look, EVERY);
  };
  document.addEventListener('DOMContentLoaded', () => setTimeout(look, EVERY));
})();
