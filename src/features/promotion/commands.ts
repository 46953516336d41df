import { command } from '../../ledger/decision.ts';
import { endPromotion as decideEndPromotion } from './end-promotion.ts';
import { startPromotion as decideStartPromotion } from './start-promotion.ts';

export const startPromotion = command('start_promotion', decideStartPromotion);
export const endPromotion = command('end_promotion', decideEndPromotion);
