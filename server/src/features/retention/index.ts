// Public interface of the retention: removal and archives of old events, delivery attempts and
// recorded requests.
import type { Feature } from '../../runtime/operation/feature.ts';
import { archiveKeyContext } from './archive.ts';
import type { RetentionDeps } from './deps.ts';
import { retentionSweep } from './sweep.ts';

export { applyRetention, type RetentionResult } from './apply.ts';
export { archivePart, archiveText } from './archive.ts';
export { type RetentionDeps, type RetentionOptions, retentionDepsOf } from './deps.ts';
export { HISTORIES } from './histories.ts';
export { type RetentionOverview, retentionOverview } from './show.ts';

/** Parts that this feature adds to a server. */
export const retentionFeature = {
  sealed: [{ table: 'archives', column: 'file_key', contexts: (id) => [archiveKeyContext(id)] }],
  sweeps: ({ retention }: { retention: RetentionDeps }) => [retentionSweep(retention)],
} satisfies Feature<{ retention: RetentionDeps }>;
