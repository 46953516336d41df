import { NoteBuffer } from '../note-buffer.ts';
import { type Database, STEP_MS_MAX } from './database.ts';
import { EPOCH, list } from './write-group.ts';

const ADD_NOTES = { name: 'cox_add_notes', text: 'SELECT coxswain.add_notes($1, $2) AS r' };

/**
 * Notes are sent with the next group of commits; when none comes they are written on their own, without
 * waiting for the disk.
 */
export function createNotes(database: Database, flushed: (projects: Iterable<string>) => void): NoteBuffer {
  return new NoteBuffer({
    flush_after_ms: 100,
    rows_per_call: 500,
    async write(rows) {
      const values = [EPOCH, list(rows.map((row) => JSON.stringify(row)))];
      const deadline_ms = database.clock.elapsed_ms() + STEP_MS_MAX;
      // Not repeated when the connection breaks: a row written twice would be worse than one that is counted
      // as dropped.
      await database.call(ADD_NOTES, () => values, deadline_ms, false);
      flushed(new Set(rows.map(({ project }) => project)));
      return rows.length;
    },
  });
}
