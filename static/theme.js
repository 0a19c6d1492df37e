/* The theme a person chose, before anything is painted. */
(() => {
  try {
    const theme = localStorage.getItem('arborweb.theme');
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  } catch {
    /* Without storage the system's theme holds. */
  }
})();
