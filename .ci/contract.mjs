// Compares openapi.json with the public contract. Fails if a tag is incomplete, an operation or webhook is
// not served, or a field differs. Usage: node contract.mjs CHECKER OPENAPI
import { spawnSync } from 'node:child_process';

const [checker, document] = process.argv.slice(2);
const TAGS = [
  'Platform Configuration',
  'Customers',
  'Contact Verification',
  'KYC/KYB Verifications',
  'Documents',
  'Invitations',
  'API Tokens',
  'Internal Accounts',
  'External Accounts',
  'Same-Currency Transfers',
  'Cross-Currency Transfers',
  'Transactions',
  'Exchange Rates',
  'Discoveries',
  'VASPs',
  'Available UMA Providers',
  'Webhooks',
  'Strong Customer Authentication',
  'Agent Management',
  'Agent Operations',
  'Embedded Wallet Auth',
  'Cards',
  'Stablecoins',
  'Sandbox',
];

const { stdout, error } = spawnSync(process.execPath, [checker, document, '--all'], {
  encoding: 'utf8',
  maxBuffer: 1 << 26,
});
if (error) throw error;
const lines = stdout.split('\n');
const DIFFERENCE =
  /^(missing|type|enum|required)\s+((?:GET|POST|PUT|PATCH|DELETE|WEBHOOK) \S+)\s+(.*)$/;
const unservedOperations = new Set();
const differences = [];
for (const line of lines) {
  const match = DIFFERENCE.exec(line);
  if (!match) continue;
  const [, kind, operation, detail] = match;
  if (kind === 'missing' && /^operation /.test(detail)) unservedOperations.add(operation);
  else if (kind === 'missing' && detail === 'webhook') unservedOperations.add(operation);
  else differences.push(line);
}
const incompleteTags = TAGS.filter(
  (tag) => !lines.some((line) => line.startsWith(`whole   ${tag}:`)),
);
for (const line of differences) console.log(line);
for (const tag of incompleteTags) console.log(`incomplete tag: ${tag}`);
console.log(lines.filter((line) => / operations and webhooks hold/.test(line)).join('\n'));
console.log(`${unservedOperations.size} operations and webhooks are not served`);
process.exit(differences.length || incompleteTags.length || unservedOperations.size ? 1 : 0);
