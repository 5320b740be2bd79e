// Interfaces that all rows share.

import type { Settings } from '../table/row.ts';
import type { Run } from '../table/stats.ts';
import type { Child } from './children.ts';
import type { Cluster } from './cluster.ts';

/**
 * Template quotes: `convert` exchanges a customer's dollars for its own euros. `pay` sends dollars
 * to the next customer. `hot` is `convert` of a single customer.
 */
export interface Templates {
  convert: string[];
  pay: string[];
  hot: string[];
}

export interface Api {
  readonly port: number;
  readonly process: Child;
  readonly templates: Templates;
  request<R>(method: string, path: string, body?: unknown): Promise<R>;
}

export type Spread = 'spread' | 'hot';

/** pgbench with the number of clients at which it is fastest. */
export interface BestPgbench {
  readonly best: Record<Spread, number>;
  run(spread: Spread): Promise<Run>;
  /** Number of transfers posted in all runs. */
  transferCount(): number;
}

export interface Bench {
  /** Folder of the checkout. */
  root: string;
  /** Temporary folder, removed at the end. */
  scratch: string;
  cluster: Cluster;
  settings: Settings;
  quick: boolean;
  /**
   * Number of payments in the large database of `operator-lists`. Absent for the default number.
   */
  payments?: number | undefined;
  /** The Node program that runs the server under test. */
  node: string;
  /** Folder for processor profiles of the server and the bench. */
  profile?: string;
  logLevel: string;
  /** The server under test, started on first use. */
  api(): Promise<Api>;
  /** pgbench, tuned on first use. */
  pgbench(): Promise<BestPgbench>;
  /** The best setting of the interactive peer, found by `search` on first use. */
  interactive(search: () => Promise<string>): Promise<string>;
}
