// Holds openapi.json against the public contract: tags that are done must be whole, and no operation that
// we serve may fall short of it. usage: node contract.mjs CHECKER OPENAPI
import { spawnSync } from 'node:child_process';

const [checker, document] = process.argv.slice(2);
const WHOLE = [
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
const finding =
  /^(missing|type|enum|required)\s+((?:GET|POST|PUT|PATCH|DELETE|WEBHOOK) \S+)\s+(.*)$/;
const unserved = new Set();
const short = [];
for (const line of lines) {
  const match = finding.exec(line);
  if (!match) continue;
  const [, kind, where, what] = match;
  if (kind === 'missing' && /^operation /.test(what)) unserved.add(where);
  else if (kind === 'missing' && what === 'webhook') unserved.add(where);
  else short.push(line);
}
const partial = WHOLE.filter((tag) => !lines.some((line) => line.startsWith(`whole   ${tag}:`)));
for (const line of short) console.log(line);
for (const tag of partial) console.log(`not whole: ${tag}`);
console.log(lines.filter((line) => / operations and webhooks hold/.test(line)).join('\n'));
console.log(`${unserved.size} operations and webhooks are not served`);
process.exit(short.length || partial.length || unserved.size ? 1 : 0);
