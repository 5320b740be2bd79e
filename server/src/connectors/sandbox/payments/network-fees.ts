// Network fees in the sandbox: the constant typical fees of the catalog.
import { isWithdrawalNetwork, NETWORKS } from '../../../catalog/crypto/crypto-networks.ts';
import type { NetworkFeePort } from '../../ports/index.ts';

export const sandboxNetworkFees: NetworkFeePort = {
  async feeOf(network) {
    if (!isWithdrawalNetwork(network)) return undefined;
    const { fee, feeAsset, price } = NETWORKS[network];
    return { fee, asset: feeAsset, price };
  },
};
