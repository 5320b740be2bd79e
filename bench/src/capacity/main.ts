// `npm run capacity`: prints the resources that a number of payments needs, the tables of
// docs/scaling.md, or costs that are measured on this machine.
import { readRequest, USAGE } from './demand.ts';
import { measureCosts } from './measure.ts';
import { capacityFor } from './model.ts';
import { documentTables, reportOf } from './report.ts';

/** Returns the exit code: 2 for invalid flags, otherwise 0. */
export async function main(argv: readonly string[], root: string): Promise<number> {
  if (argv.includes('--help')) {
    console.log(USAGE);
    return 0;
  }
  const result = readRequest(argv);
  if ('errors' in result) {
    console.error(`${result.errors.join('\n')}\n\n${USAGE}`);
    return 2;
  }
  const { demand, isJson, tables, measure } = result.request;
  if (measure) await measureCosts(root);
  if (tables)
    console.log(
      documentTables()
        .map(({ markdown }) => `${markdown}\n`)
        .join('\n'),
    );
  if (demand)
    console.log(
      isJson ? JSON.stringify({ demand, ...capacityFor(demand) }, null, 2) : reportOf(demand),
    );
  return 0;
}
