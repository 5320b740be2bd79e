// Runs the checks with the package loaded as ES modules.
import * as sdk from 'railhead-sdk';
import * as node from 'railhead-sdk/node';
import * as wallets from 'railhead-sdk/wallets';
import * as webhooks from 'railhead-sdk/webhooks';
import { check } from './check.mjs';

await check({ sdk, node, wallets, webhooks }, process.argv[2]);
