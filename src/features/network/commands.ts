import { command } from '../../ledger/decision.ts';
import {
  removeNetworkPolicy as decideRemoveNetworkPolicy,
  setNetworkPolicy as decideSetNetworkPolicy,
} from './change-policies.ts';
import { checkNetwork as decideCheckNetwork } from './check-network.ts';

export const checkNetwork = command('check_network', decideCheckNetwork);
export const setNetworkPolicy = command('set_network_policy', decideSetNetworkPolicy);
export const removeNetworkPolicy = command('remove_network_policy', decideRemoveNetworkPolicy);
