// Attacks a real server over TCP with the varying seed of the test run. `npm run attack` repeats a seed.
import { expect, it } from 'vitest';
import { runSeed } from '../kit/app/effects.ts';
import { lengthOf } from '../kit/length.ts';
import { linesOf } from './main.ts';
import { attack } from './run.ts';

const REQUESTS = lengthOf(2_000, 20_000);
const FLOOD_MS = lengthOf(5_000, 15_000);
/** Minimum number of successful operations, of 400 in both documents, in a short run. */
const MIN_SUCCESSFUL_OPERATIONS = 100;

it('a server withstands fuzzed, smuggled, replayed and malformed requests and floods', async () => {
  const options = { seed: runSeed(), requests: REQUESTS, floodMs: FLOOD_MS };
  const startedAt = performance.now();
  const result = await attack(options);
  for (const line of linesOf(result, options, performance.now() - startedAt)) console.log(line);
  expect(result.problems).toEqual([]);
  expect(result.reachedOperations.size).toBeGreaterThan(MIN_SUCCESSFUL_OPERATIONS);
}, 900_000);
