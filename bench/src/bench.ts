// What every row is given.
import type { Api } from './api.ts';
import type { Cluster } from './cluster.ts';
import type { BestPgbench } from './pgbench.ts';
import type { Settings } from './row.ts';

export interface Bench {
  /** The checkout. */
  root: string;
  /** A folder that is removed at the end. */
  scratch: string;
  cluster: Cluster;
  settings: Settings;
  quick: boolean;
  /** Folder for processor profiles of our own processes. */
  profile?: string;
  logLevel: string;
  /** The server under test, started when first asked for. */
  api(): Promise<Api>;
  /** pgbench, tried out when first asked for. */
  pgbench(): Promise<BestPgbench>;
}
