// Which declared statuses no test has seen. What a later part of the product will answer is listed in
// server/test/awaited.json with the reason; the list may not hold anything that is already answered.
import fs from 'node:fs';

const read = (name) => JSON.parse(fs.readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'));

/** One line for each problem; `file` holds lines of operationId and status. */
export function unseen(file) {
  const seen = new Set(fs.readFileSync(file, 'utf8').split('\n').filter(Boolean));
  const awaited = read('server/test/awaited.json');
  const problems = [];
  const declared = new Set();
  for (const item of Object.values(read('openapi.json').paths)) {
    for (const { operationId, responses } of Object.values(item)) {
      for (const status of Object.keys(responses)) {
        const pair = `${operationId} ${status}`;
        declared.add(pair);
        const later = awaited[operationId]?.[status];
        if (!seen.has(pair) && !later) problems.push(`declared but seen by no test: ${pair}`);
        if (seen.has(pair) && later) problems.push(`awaited but answered already: ${pair}`);
      }
    }
  }
  for (const [operationId, statuses] of Object.entries(awaited)) {
    for (const status of Object.keys(statuses)) {
      const pair = `${operationId} ${status}`;
      if (!declared.has(pair)) problems.push(`awaited but not declared: ${pair}`);
    }
  }
  return problems;
}
