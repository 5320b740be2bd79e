// The jobs table, apart from the loop that works it off because contexts stage into it.
import { col, table } from './table.ts';

export const jobs = table('jobs', {
  id: col.text,
  kind: col.text,
  input: col.json<Record<string, unknown>>(),
  due_at: col.time.mut,
  attempts: col.int4.mut,
  version: col.int4,
});
