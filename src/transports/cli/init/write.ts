import { applyChanges } from './changes.ts';
import { withManifest } from './manifest.ts';
import type { Prepared } from './prepare.ts';

/** The manifest first, so that an undo is possible, then the files. */
export function writePlan({ manifest, manifestPath, known, changes }: Prepared): void {
  withManifest(manifestPath, known, (held) => {
    held.write(manifest);
    try {
      applyChanges(changes);
    } catch (error) {
      if (known === undefined) held.remove();
      else held.write(known);
      throw error;
    }
  });
}
