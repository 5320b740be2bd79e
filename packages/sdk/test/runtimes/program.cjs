// Runs the checks with the package loaded as CommonJS.
const sdk = require('railhead-sdk');
const node = require('railhead-sdk/node');
const wallets = require('railhead-sdk/wallets');
const webhooks = require('railhead-sdk/webhooks');

import('./check.mjs')
  .then(({ check }) => check({ sdk, node, wallets, webhooks }, process.argv[2]))
  .catch((error) => {
    console.error(error);
    process.exitCode = 1;
  });
