// Privacy of a wallet, and export of its recovery phrase. The recovery phrase gives full control of
// the wallet, so it is encrypted to the key of the client and not stored. Exports are limited per
// hour. A customer with an e-mail address is notified of each export.

import { canonical } from '../../../kernel/crypto/canonical.ts';
import { Fault, invalidField } from '../../../kernel/fault.ts';
import { checkAttempts, countAttempt } from '../../../runtime/operation/attempt-limiter.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { sha256Hex } from '../../../runtime/security/crypto.ts';
import { presentAccount, setAccountPrivacy } from '../../balances/internal-accounts/index.ts';
import { canSend, sendMessage, walletExportedText } from '../../notifications/messages/index.ts';
import { walletSenderOf } from '../../tenancy/config/index.ts';
import { readOwnPlatform } from '../../tenancy/platform/index.ts';
import { activityText } from '../signing/payload.ts';
import { type SignedOperation, signedOperation } from '../signing/signed.ts';
import { exportInternalAccount, updateInternalAccount } from './account-contract.ts';
import { clientKeyOf } from './credentials.ts';
import { custodyOf, type Wallet, type WalletDeps, walletOf } from './wallet.ts';

/** Any session of the wallet can sign. */
const walletSigner = ({ row }: Wallet) => ({ by: 'session', accounts: [row.id] }) as const;

/** Text to sign for a change of privacy, with a hash that binds account, flag and request. */
function privacyText(ctx: Ctx, { row }: Wallet, privateEnabled: boolean, requestId: string) {
  const change = canonical({ accountId: row.id, privateEnabled, requestId });
  const activity = {
    type: 'SIGN_RAW_PAYLOAD_V2',
    parameters: {
      encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
      hashFunction: 'HASH_FUNCTION_NO_OP',
      payload: sha256Hex(change),
      signWith: row.wallet_id,
    },
  };
  return activityText(row, activity, { requestId, now: ctx.now });
}

const updatePrivacy = (deps: WalletDeps) =>
  signedOperation(updateInternalAccount, deps, {
    resourceId: ({ params }) => params.id,
    async begin(ctx, { params, body }) {
      const wallet = await walletOf(ctx, params.id, 'id');
      const isPrivate = body.privateEnabled === true;
      return {
        signatureRequest: {
          wallet,
          payload: async ({ id }) => privacyText(ctx, wallet, isPrivate, id),
          signer: walletSigner(wallet),
        },
      };
    },
    async perform(ctx, { params, body }) {
      const { account } = await walletOf(ctx, params.id, 'id');
      const accountAfter = setAccountPrivacy(ctx, account, body.privateEnabled === true);
      return { status: 200, body: await presentAccount(ctx, accountAfter) };
    },
  });

const EXPORT_LIMITS = [{ max: 3, withinMs: 3_600_000 }] as const;
const EXPORT_LIMIT_REACHED = 'The export limit of the wallet is reached. Retry later.';
const limiterId = (accountId: string) => `exportInternalAccount ${accountId}`;

/** A wallet that can be exported: ACTIVE and with a seed. */
async function requireExportable(ctx: Ctx, id: string): Promise<{ wallet: Wallet; seed: string }> {
  const wallet = await walletOf(ctx, id, 'id');
  const { status } = wallet.account;
  if (status !== 'ACTIVE') throw invalidField('id', `must be ACTIVE, but the account is ${status}`);
  if (wallet.row.seed === null) throw new Fault('ACCOUNT_NOT_FOUND', 'Account not found.');
  return { wallet, seed: wallet.row.seed };
}

/** Notifies the customer of the export, if e-mail is available. */
async function notifyExport(ctx: Ctx, deps: WalletDeps, { customer }: Wallet): Promise<void> {
  const { environment } = ctx.caller;
  if (customer.email === null) return;
  if (!canSend(deps.connectors(environment), 'EMAIL', environment)) return;
  const { platformName, mail } = walletSenderOf(await readOwnPlatform(ctx));
  sendMessage(ctx, {
    channel: 'EMAIL',
    to: customer.email,
    kind: 'WALLET_EXPORTED',
    customer,
    ...walletExportedText(platformName),
    ...mail,
  });
}

const exportSeedPhrase = (deps: WalletDeps) =>
  signedOperation(exportInternalAccount, deps, {
    resourceId: ({ params }) => params.id,
    completion: 'onRetry',
    async begin(ctx, { params, body }) {
      const { wallet } = await requireExportable(ctx, params.id);
      const { clientPublicKey } = body;
      clientKeyOf(clientPublicKey);
      await checkAttempts(ctx, limiterId(wallet.row.id), EXPORT_LIMITS, EXPORT_LIMIT_REACHED);
      const parameters = { targetPublicKey: clientPublicKey, walletId: wallet.row.wallet_id };
      const payload = { type: 'EXPORT_WALLET', parameters };
      return { signatureRequest: { wallet, payload, signer: walletSigner(wallet) } };
    },
    async perform(ctx, { params, body }) {
      const { wallet, seed } = await requireExportable(ctx, params.id);
      const { id, organization_id: organizationId, wallet_id: walletId } = wallet.row;
      await countAttempt(ctx, limiterId(id), EXPORT_LIMITS, EXPORT_LIMIT_REACHED);
      const clientPublicKey = body.clientPublicKey.toLowerCase();
      const encryptedWalletCredentials = await custodyOf(ctx, deps).exportSeed({
        organizationId,
        walletId,
        seed,
        clientPublicKey,
      });
      await notifyExport(ctx, deps, wallet);
      return { status: 200, body: { id, encryptedWalletCredentials } };
    },
  });

export const walletAccountOperations = (deps: WalletDeps): SignedOperation[] => [
  updatePrivacy(deps),
  exportSeedPhrase(deps),
];
