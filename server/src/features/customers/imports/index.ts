// Public interface of bulk imports.

import type { Feature } from '../../../runtime/operation/feature.ts';
import { importWebhooks } from './contract.ts';
import { importJobs, keyContext } from './jobs.ts';
import { importOperations } from './operations.ts';
import { importPersonalData } from './personal-data.ts';
import { importStates } from './states.ts';

export {
  type ImportErrorLine,
  importDetails,
  importErrorsOf,
  MAX_ERROR_LINES,
  pageOfImportErrors,
  pageOfImports,
  searchImports,
} from './operator-queries.ts';
export { IMPORT_STATUSES } from './states.ts';

/** Operations, jobs and other parts that this feature adds to a server. */
export const importFeature = {
  sealed: [{ table: 'imports', column: 'file_key', contexts: (id) => [keyContext(id)] }],
  operations: () => importOperations,
  jobs: importJobs,
  webhooks: importWebhooks,
  personalData: importPersonalData,
  states: { import: importStates },
  reset: {
    belongs: {
      import_errors: 't.import_id in (select id from imports where platform_id = any($1::text[]))',
    },
  },
} satisfies Feature;
