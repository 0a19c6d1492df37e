/** A file can be dropped anywhere on the page. */

import type { AppState } from '../state';
import type { Store } from '../store';
import type { ImportActions } from './actions';

const holdsFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false;

export function installDrop(store: Store<AppState>, actions: ImportActions): void {
  /** Another dialog is open: it has nothing to do with files. */
  const isBusy = () => { const { dialog, ready } = store.get(); return !ready || (dialog !== null && dialog !== 'import'); };
  const over = (event: DragEvent) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    if (isBusy()) event.dataTransfer!.dropEffect = 'none';
    else {
      event.dataTransfer!.dropEffect = 'copy';
      actions.over(true);
    }
  };
  document.addEventListener('dragenter', over);
  document.addEventListener('dragover', over);
  // Left for good only when there is nothing it went to.
  document.addEventListener('dragleave', (event) => event.relatedTarget === null && actions.over(false));
  document.addEventListener('drop', (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    if (!isBusy()) actions.pick([...(event.dataTransfer?.files ?? [])]);
  });
}
