/** What one can ask of network. */
export { checkNetwork, listNetworkAccess } from './operations/network-operations.ts';
export {
  listNetworkPolicies,
  removeNetworkPolicy,
  setNetworkPolicy,
} from './operations/network-policy-operations.ts';
