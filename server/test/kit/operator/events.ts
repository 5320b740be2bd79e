// Reads events in the operator API. An event is listed after all earlier database transactions have
// ended, also those in other databases of the cluster.
import { expect, vi } from 'vitest';
import { ok } from '../app/fixtures.ts';
import type { OperatorRecorder } from './examples.ts';

/** The latest events of a platform, newest first, after the last stored event is listed. */
export async function listedEvents(
  { service: { app }, client }: Pick<OperatorRecorder, 'service' | 'client'>,
  platformId: string,
): Promise<{ id: string; type: string }[]> {
  const text = 'select max(id) as id from events where platform_id = $1';
  const [last] = await app.runtime.db.query<{ id: string }>(text, [platformId]);
  return vi.waitFor(
    async () => {
      const path = `/events?platformId=${platformId}`;
      const { data } = ok(await client.call('GET', path), 200);
      expect(data[0]?.id).toBe(last?.id);
      return data;
    },
    { timeout: 20_000 },
  );
}
